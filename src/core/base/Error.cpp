// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/Error.hpp"

#include <algorithm>
#include <numeric>

namespace inSitu
{
namespace
{

std::string place(const std::string& file, int line)
{
    if (file.empty())
    {
        return {};
    }
    return line > 0 ? file + ':' + std::to_string(line) + ' ' : file + ": ";
}


// Levenshtein's distance, one row at a time
std::size_t editDistance(const std::string& a, const std::string& b)
{
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), 0);

    for (std::size_t i = 1; i <= a.size(); ++i)
    {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j)
        {
            const std::size_t substitution = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitution});
        }
    }
    return row.back();
}

}


ConfigError::ConfigError(const std::string& file, int line, const std::string& message)
:
    Error(place(file, line) + message),
    file_(file),
    line_(line),
    message_(message)
{}


std::string join(const std::vector<std::string>& words, const std::string& separator)
{
    std::string text;
    for (const std::string& word : words)
    {
        text += (text.empty() ? "" : separator) + word;
    }
    return text;
}


std::string nearest(const std::string& word, const std::vector<std::string>& candidates)
{
    std::string best;
    std::size_t least = word.size()/2 + 1;
    for (const std::string& candidate : candidates)
    {
        const std::size_t distance = editDistance(word, candidate);
        if (distance < least)
        {
            least = distance;
            best = candidate;
        }
    }
    return best;
}


std::string didYouMean(const std::string& word, const std::vector<std::string>& candidates)
{
    const std::string best = nearest(word, candidates);
    return best.empty() ? "." : "; did you mean '" + best + "'?";
}

}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/featureWords.hpp"

#include <algorithm>
#include <iterator>

namespace inSitu
{

const std::vector<std::string>& sampleFeatures()
{
    static const std::vector<std::string> words{"deltaT"};
    return words;
}


const std::vector<std::string>& meshFeatures()
{
    static const std::vector<std::string> words{"wallDistance", "cellVolume"};
    return words;
}


bool contains(const std::vector<std::string>& words, const std::string& word)
{
    return std::find(words.begin(), words.end(), word) != words.end();
}


std::vector<std::string> chosen(const std::vector<std::string>& words,
    const std::vector<std::string>& known)
{
    std::vector<std::string> result;
    std::copy_if(words.begin(), words.end(), std::back_inserter(result),
        [&](const std::string& word) { return contains(known, word); });
    return result;
}

}

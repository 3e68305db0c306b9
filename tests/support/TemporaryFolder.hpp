// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace inSitu
{

//- An empty folder of its own for a test, removed afterwards
class TemporaryFolder
{
public:

    TemporaryFolder()
    {
        std::string pattern = (std::filesystem::temp_directory_path() / "inSituXXXXXX").string();
        if (!mkdtemp(pattern.data()))
        {
            throw std::runtime_error("cannot make a temporary folder");
        }
        path_ = pattern;
    }

    ~TemporaryFolder()
    {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    std::string operator/(const std::string& name) const { return path_ + '/' + name; }

    //- Write a text file and return its path
    std::string write(const std::string& name, const std::string& content) const
    {
        std::ofstream(*this / name, std::ios::binary) << content;
        return *this / name;
    }

    std::string read(const std::string& name) const
    {
        std::ostringstream content;
        content << std::ifstream(*this / name, std::ios::binary).rdbuf();
        return content.str();
    }

private:

    std::string path_;
};

}

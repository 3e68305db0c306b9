// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "io/LineFile.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace inSitu
{

//- One JSON object, built key by key. Non-finite numbers become null, as JSON has none;
//  doubles are written in the shortest form that reads back as the same bits.
class JsonObject
{
public:

    JsonObject& add(std::string_view key, std::string_view text);
    JsonObject& add(std::string_view key, const char* text);
    JsonObject& add(std::string_view key, double value);
    JsonObject& add(std::string_view key, long long value);
    JsonObject& add(std::string_view key, bool value);

    JsonObject& add(std::string_view key, int value)
    {
        return add(key, static_cast<long long>(value));
    }

    JsonObject& add(std::string_view key, long value)
    {
        return add(key, static_cast<long long>(value));
    }

    //- value is JSON already
    JsonObject& addRaw(std::string_view key, std::string_view json);

    std::string text() const { return text_ + '}'; }

private:

    std::string text_ = "{";
};


//- Appends one object per line, as a LineFile does
class JsonLines
{
public:

    //- Empty path: nothing is written
    explicit JsonLines(const std::string& path,
        std::function<void(const std::string&)> tell = {})
    :
        file_(path, LineFile::Start::append, std::move(tell))
    {}

    void write(const JsonObject& object) { file_.write(object.text()); }

    bool good() const { return file_.good(); }

private:

    LineFile file_;
};

}

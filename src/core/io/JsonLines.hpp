// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

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


//- Appends one object per line, each handed to the system at once. A fault of the disk makes
//  good() false and is never thrown: metrics must not end a run. Later objects are tried
//  again; each begins a line of its own, also after half a line of a run that was killed.
class JsonLines
{
public:

    //- Empty path: nothing is written
    explicit JsonLines(const std::string& path);
    ~JsonLines();

    JsonLines(const JsonLines&) = delete;
    JsonLines& operator=(const JsonLines&) = delete;

    void write(const JsonObject& object);

    //- False if any object was lost, or the file could not be opened
    bool good() const { return good_; }

private:

    std::FILE* file_;
    bool good_;
    bool insideLine_;
};

}

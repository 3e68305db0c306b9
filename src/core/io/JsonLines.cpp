// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/JsonLines.hpp"
#include "config/Json.hpp"

namespace inSitu
{
namespace
{

bool endsInsideLine(std::FILE* file)
{
    return std::fseek(file, -1, SEEK_END) == 0 && std::fgetc(file) != '\n';
}

}


JsonObject& JsonObject::add(std::string_view key, std::string_view text)
{
    return addRaw(key, jsonString(text));
}


JsonObject& JsonObject::add(std::string_view key, const char* text)
{
    return add(key, std::string_view(text));
}


JsonObject& JsonObject::add(std::string_view key, double value)
{
    return addRaw(key, jsonNumber(value));
}


JsonObject& JsonObject::add(std::string_view key, long long value)
{
    return addRaw(key, std::to_string(value));
}


JsonObject& JsonObject::add(std::string_view key, bool value)
{
    return addRaw(key, value ? "true" : "false");
}


JsonObject& JsonObject::addRaw(std::string_view key, std::string_view json)
{
    text_ += text_.size() > 1 ? "," : "";
    text_ += jsonString(key) + ':';
    text_ += json;
    return *this;
}


JsonLines::JsonLines(const std::string& path)
:
    file_(path.empty() ? nullptr : std::fopen(path.c_str(), "a+")),
    good_(file_ || path.empty()),
    insideLine_(false)
{
    if (file_)
    {
        insideLine_ = endsInsideLine(file_);

        // Nothing lingers in a buffer when the run is killed
        std::setvbuf(file_, nullptr, _IONBF, 0);
    }
}


JsonLines::~JsonLines()
{
    if (file_)
    {
        std::fclose(file_);
    }
}


void JsonLines::write(const JsonObject& object)
{
    if (!file_)
    {
        return;
    }
    std::clearerr(file_);
    const std::string line = (insideLine_ ? "\n" : "") + object.text() + '\n';
    insideLine_ = std::fwrite(line.data(), 1, line.size(), file_) != line.size();
    good_ = good_ && !insideLine_;
}

}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/JsonLines.hpp"
#include "config/Json.hpp"

namespace inSitu
{

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

}

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace inSitu
{

//- The values in a file of Python's pickle, without Python: nothing is imported, constructed
//  or called. Reads protocols 2 to 4, as far as torch.save needs them. A call is kept as
//  a value that says what would have been called with which arguments, and only names that
//  the caller allows may occur. collections.OrderedDict is a dict. Attributes that are set on
//  a dict (the `_metadata` of a state dictionary) are dropped.
class Pickle
{
public:

    enum class Kind
    {
        none,
        boolean,        //!< integer is 0 or 1
        integer,
        real,
        text,
        list,
        tuple,
        dict,           //!< items: key, value, key, value, …
        global,         //!< text: "module.name"
        call,           //!< items: the global, the tuple of arguments
        persistent      //!< items: the identifier
    };

    using Index = std::uint32_t;

    //- A value may be the item of several, even of itself
    struct Value
    {
        Kind kind = Kind::none;
        std::int64_t integer = 0;
        double real = 0;
        std::string text;
        std::vector<Index> items;
    };

    //- allowed: globals as "module.name". name stands for the file in messages. At most a
    //  million values and 64 MiB. Throws Error, with the position: anything else than such a
    //  pickle, by its name.
    Pickle(std::string_view bytes, const std::vector<std::string>& allowed,
        const std::string& name);

    //- One of a TorchScript module, to be looked at: any name, objects are calls of their class,
    //  attributes set on them are among the values, but in none of them. Same limits.
    Pickle(std::string_view bytes, const std::string& name);

    //- All values, in the order in which they were made
    const std::deque<Value>& values() const { return values_; }

    const Value& operator[](Index index) const { return values_[index]; }
    Index root() const { return root_; }

    static const char* nameOf(Kind kind);

private:

    class Reader;

    std::deque<Value> values_;
    Index root_ = 0;
};

//- A text from a foreign file for a message: in quotes, harmless, at most 80 characters of it
std::string shown(std::string_view text);

}

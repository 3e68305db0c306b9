// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace inSitu
{

//- A cache entry that remembers the key it was built from: lazy, rebuilt when the
//  key differs and never otherwise. Key needs == ; Value needs a move.
template<class Key, class Value>
class Stamped
{
public:

    explicit Stamped(std::string name)
    :
        name_(std::move(name))
    {}

    //- The value for key; build() makes it if there is none or it has another key.
    //  If build() throws, the old entry is gone and the next call builds again.
    template<class Build>
    const Value& get(const Key& key, Build&& build)
    {
        if (!entry_ || !(entry_->first == key))
        {
            entry_.reset();
            entry_.emplace(key, build());
            ++builds_;
        }
        return entry_->second;
    }

    bool holds(const Key& key) const { return entry_ && entry_->first == key; }

    const std::string& name() const { return name_; }

    //- How often the value was built
    int builds() const { return builds_; }

private:

    std::string name_;
    std::optional<std::pair<Key, Value>> entry_;
    int builds_ = 0;
};

}

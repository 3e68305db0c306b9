// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace inSitu
{

//- Told of each build of a cache: its name, why, and the seconds that it took
using CountBuild =
    std::function<void(const std::string& cache, const std::string& reason, double seconds)>;


//- A cache entry that remembers the key it was built from: lazy, rebuilt when the
//  key differs and never otherwise. Value needs a move; Key needs ==, and may have
//      std::string changeFrom(const Key& before) const     what differs, in a word: "geometry"
//  which is the reason of a build; without it that is "key".
template<class Key, class Value>
class Stamped
{
public:

    explicit Stamped(std::string name, CountBuild count = {})
    :
        name_(std::move(name)),
        count_(std::move(count))
    {}

    //- The value for key; build() makes it if there is none (reason "start") or it has another
    //  key. If build() throws, the old entry is gone and the next call builds again.
    template<class Build>
    const Value& get(const Key& key, Build&& build)
    {
        if (!holds(key))
        {
            rebuild(key, build);
        }
        return entry_->second;
    }

    bool holds(const Key& key) const { return entry_ && entry_->first == key; }

    //- nullptr before the first build
    const Value* value() const { return entry_ ? &entry_->second : nullptr; }
    const Key* key() const { return entry_ ? &entry_->first : nullptr; }

    const std::string& name() const { return name_; }

    //- How often the value was built
    int builds() const { return builds_; }

private:

    template<class Build>
    void rebuild(const Key& key, Build&& build)
    {
        using Clock = std::chrono::steady_clock;

        const std::string reason = entry_ ? change(key, entry_->first, 0) : "start";
        const auto start = Clock::now();
        entry_.reset();
        entry_.emplace(key, build());
        ++builds_;
        if (count_)
        {
            count_(name_, reason, std::chrono::duration<double>(Clock::now() - start).count());
        }
    }

    template<class K>
    static auto change(const K& key, const K& before, int) -> decltype(key.changeFrom(before))
    {
        return key.changeFrom(before);
    }

    template<class K>
    static std::string change(const K&, const K&, long)
    {
        return "key";
    }

    std::string name_;
    CountBuild count_;
    std::optional<std::pair<Key, Value>> entry_;
    int builds_ = 0;
};

}

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Error.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace inSitu
{

class Schema;

//- Options chosen by a word: `model { type meshGraphNet; … }`. A kind of thing that
//  can be chosen (model, loss, optimiser, schedule) has a base class derived from this
//  one and a registry of factories; an implementation is one file and one line there.
class Options
{
public:

    virtual ~Options() = default;

    //- Tell the schema every key with its default and meaning
    virtual void describe(Schema& schema) = 0;

    //- Folder that relative file names among the keys start from; without a call, the
    //  working directory. Names stay as written: a case that is moved is the same case.
    virtual void setFolder(const std::string&) {}
};


//- Word → factory of options with their defaults
template<class Base>
using Registry = std::map<std::string, std::function<std::unique_ptr<Base>()>>;


//- A word, or a regular expression where it was written in quotes
struct Pattern
{
    std::string text;
    bool isRegex = false;
};


//- Limits of a number; lower/upper belong to the range unless open
struct Range
{
    double lower = -std::numeric_limits<double>::infinity();
    double upper = std::numeric_limits<double>::infinity();
    bool lowerOpen = false;
    bool upperOpen = false;

    static Range any() { return {}; }
    static Range atLeast(double lower) { return {lower, infinity(), false, false}; }
    static Range positive() { return {0, infinity(), true, false}; }
    static Range within(double lower, double upper) { return {lower, upper, false, false}; }
    static Range fraction() { return {0, 1, true, true}; }

    bool contains(double value) const;

    //- "> 0", ">= 1", "in [0, 1)"; empty for any()
    std::string text() const;

private:

    static constexpr double infinity() { return std::numeric_limits<double>::infinity(); }
};


//- What a configuration struct tells about itself. Each struct has one function
//      void describe(Schema&)
//  that names every key once, with its variable (which holds the default), meaning and
//  limits. The same function serves reading (leftovers are rejected), writing (metrics,
//  checkpoint) and the dictionary reference in docs/.
class Schema
{
public:

    virtual ~Schema() = default;

    virtual void key(const std::string& name, bool& value, const std::string& meaning) = 0;

    virtual void key(const std::string& name, std::int64_t& value, const std::string& meaning,
        Range range = {}) = 0;

    virtual void key(const std::string& name, double& value, const std::string& meaning,
        Range range = {}) = 0;

    virtual void key(const std::string& name, std::string& value, const std::string& meaning) = 0;

    virtual void key(const std::string& name, std::vector<std::int64_t>& value,
        const std::string& meaning, Range range = {}) = 0;

    virtual void key(const std::string& name, std::vector<std::string>& value,
        const std::string& meaning) = 0;

    virtual void key(const std::string& name, std::vector<Pattern>& value,
        const std::string& meaning) = 0;

    //- Absent unless written: no default
    virtual void key(const std::string& name, std::optional<std::int64_t>& value,
        const std::string& meaning, Range range = {}) = 0;

    virtual void key(const std::string& name, std::optional<double>& value,
        const std::string& meaning, Range range = {}) = 0;

    //- One of the words
    virtual void choice(const std::string& name, std::string& value,
        const std::vector<std::string>& words, const std::string& meaning) = 0;

    //- A nested block; left out it is read as an empty one
    virtual void block(const std::string& name, const std::string& meaning,
        const std::function<void(Schema&)>& describe) = 0;

    //- The key named just before has no default: a reader complains if it is absent
    virtual void required(const std::string& name) = 0;

    //- A block with a word `type` that picks an entry of the registry; the other keys are
    //  that entry's. chosen holds the default choice and typeName its word; a block without
    //  `type`, or no block at all, keeps that choice. With chosen null, `type` is required.
    template<class Base>
    void typed
    (
        const std::string& name,
        std::string& typeName,
        std::unique_ptr<Base>& chosen,
        const Registry<Base>& registry,
        const std::string& meaning
    )
    {
        std::vector<Alternative> alternatives;
        for (const auto& entry : registry)
        {
            alternatives.push_back
            ({
                entry.first,
                [&chosen, &typeName, &entry]() -> Options&
                {
                    chosen = entry.second();
                    typeName = entry.first;
                    return *chosen;
                },
                [&entry]() -> std::unique_ptr<Options> { return entry.second(); }
            });
        }
        typedBlock(name, typeName, chosen.get(), alternatives, meaning);
    }

    //- A check over these keys, run by a reader when all keys of the block are known: returns
    //  the complaint, or an empty text. Its place is that of the first of them that was written;
    //  "training.batchSize" lies in an inner block.
    virtual void check(const std::vector<std::string>& keys,
        const std::function<std::string()>& complaint) = 0;

    //- The key named just before has no effect for this reason, or does have one if the text is
    //  empty ("in mode compare; …"): a reader refuses it where it was written
    virtual void useless(const std::string& name, const std::function<std::string()>& reason) = 0;

protected:

    struct Alternative
    {
        std::string word;
        std::function<Options&()> choose;                   //!< replaces the current choice
        std::function<std::unique_ptr<Options>()> make;     //!< a free copy with defaults
    };

    virtual void typedBlock(const std::string& name, const std::string& typeName,
        Options* current, const std::vector<Alternative>& alternatives,
        const std::string& meaning) = 0;
};

}

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Span.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace inSitu
{

//- What an object needs to be made again, as named arrays and texts: the common
//  language of everything that is saved and restored. Names are paths with '/'
//  ("normaliser/input/mean"). Holds values, knows no file.
class StateTree
{
public:

    enum class Type : std::uint8_t
    {
        float32,
        float64,
        int32,
        int64,
        uint8
    };

    //- Row-major array. The bytes are shared with whoever made it and never changed:
    //  saving a large buffer costs no copy.
    struct Array
    {
        Type type = Type::uint8;
        std::vector<std::int64_t> shape;
        std::shared_ptr<const void> data;

        std::size_t count() const;
        std::size_t bytes() const;
    };

    //- Copy values into an array of the given shape (default: one dimension).
    //  An entry of that name is replaced. Throws Error if the shape holds another number of
    //  values. T: float double int32_t int64_t uint8_t
    template<class T>
    void put(const std::string& name, Span<const T> values,
        std::optional<std::vector<std::int64_t>> shape = std::nullopt);

    template<class T>
    void put(const std::string& name, const std::vector<T>& values)
    {
        put(name, Span<const T>(values));
    }

    //- A scalar is an array of shape ()
    void putInt(const std::string& name, std::int64_t value);
    void putDouble(const std::string& name, double value);
    void putText(const std::string& name, const std::string& text);

    //- Share memory without a copy
    void putArray(const std::string& name, Array array);

    //- Put all entries of another tree below prefix/
    void putTree(const std::string& prefix, const StateTree& tree);

    bool has(const std::string& name) const;

    //- Each throws Error, naming the entry, if it is missing or of another type or size
    template<class T>
    std::vector<T> get(const std::string& name) const;

    template<class T>
    void get(const std::string& name, Span<T> values) const;

    std::int64_t getInt(const std::string& name) const;
    double getDouble(const std::string& name) const;
    std::string getText(const std::string& name) const;
    const Array& getArray(const std::string& name) const;

    //- The entries below prefix/, with the prefix removed
    StateTree subTree(const std::string& prefix) const;

    const std::map<std::string, Array>& arrays() const { return arrays_; }
    const std::map<std::string, std::string>& texts() const { return texts_; }

    std::size_t bytes() const;

private:

    std::map<std::string, Array> arrays_;
    std::map<std::string, std::string> texts_;
};

std::size_t bytesOf(StateTree::Type type);

}

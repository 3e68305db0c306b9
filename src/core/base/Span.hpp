// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>

namespace inSitu
{

//- A view of contiguous memory that somebody else owns: "I only look".
//  Valid as long as the owner neither dies nor reallocates.
template<class T>
class Span
{
public:

    using value_type = std::remove_cv_t<T>;
    using iterator = T*;
    using const_iterator = T*;

    Span() = default;

    Span(T* data, std::size_t size)
    :
        data_(data),
        size_(size)
    {}

    template<class U, class = std::enable_if_t<std::is_convertible_v<U(*)[], T(*)[]>>>
    Span(Span<U> other)
    :
        Span(other.data(), other.size())
    {}

    template<class U, class = std::enable_if_t<std::is_same_v<std::add_const_t<U>, T>>>
    Span(const std::vector<U>& values)
    :
        Span(values.data(), values.size())
    {}

    template<class U, class = std::enable_if_t<std::is_same_v<U, T>>>
    Span(std::vector<U>& values)
    :
        Span(values.data(), values.size())
    {}

    T* data() const { return data_; }
    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    T& operator[](std::size_t i) const { return data_[i]; }
    T* begin() const { return data_; }
    T* end() const { return data_ + size_; }

private:

    T* data_ = nullptr;
    std::size_t size_ = 0;
};

}

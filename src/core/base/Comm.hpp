// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Span.hpp"

#include <cstdint>

namespace inSitu
{

//- The ranks that train together. Every call is collective: all ranks, same order.
class Comm
{
public:

    virtual ~Comm() = default;

    virtual int rank() const = 0;
    virtual int size() const = 0;

    //- Replace each entry by its sum, or maximum, over the ranks; the same bits on all
    virtual void sum(Span<double> values) const = 0;
    virtual void max(Span<double> values) const = 0;

    bool isMaster() const { return rank() == 0; }
};


//- One rank
class SerialComm final : public Comm
{
public:

    int rank() const override { return 0; }
    int size() const override { return 1; }
    void sum(Span<double>) const override {}
    void max(Span<double>) const override {}
};

}

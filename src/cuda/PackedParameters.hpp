// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Runtime.hpp"
#include "model/ParameterSet.hpp"

#include <string>
#include <vector>

namespace inSitu
{
namespace device
{

//- Which rows a sum over rows is over
enum class RowKind
{
    edges,          //!< of all samples
    nodes,          //!< of all samples
    sharedEdges     //!< of one sample
};


//- Numbers of rows for one call
struct RowCounts
{
    long edges;
    long nodes;
    long sharedEdges;

    long of(RowKind kind) const
    {
        return kind == RowKind::edges ? edges : kind == RowKind::nodes ? nodes : sharedEdges;
    }

    bool operator==(const RowCounts& o) const
    {
        return edges == o.edges && nodes == o.nodes && sharedEdges == o.sharedEdges;
    }
};


//- A matrix or vector of the packed parameters. Rows and columns are padded with zeros.
struct LinearPlace
{
    std::int64_t weight;            //!< in packed() and in gradients(): [out, ld]
    int in;
    int out;
    std::int64_t bias = -1;         //!< in packed()
    std::int64_t biasVector = -1;   //!< in vectors()
};


//- The flat parameters of a model as the products want them: cut, padded, in the storage type;
//  biases and gains also as they are. And the way back for the gradients: those of weights are
//  written in the same places, those of vectors are partial sums over rows that finish() adds up.
//  T: storage type.
template<class T>
class PackedParameters
{
public:

    using A = Accumulator<T>;

    explicit PackedParameters(const ParameterSet& parameters)
    :
        parameters_(parameters.layout())
    {}

    //- Part of a weight: columns firstColumn.. of it, behind column inFront of the packed matrix
    struct Part
    {
        int firstColumn;
        int columns;
    };

    //- A linear layer prefix.weight, prefix.bias, whose input is made of parts one beside the
    //  other, each padded; none: the whole weight. Its bias is a vector and packed.
    LinearPlace addLinear(const std::string& prefix, std::vector<Part> parts);

    //- Parts of a weight one below the other, each padded, without a bias
    LinearPlace addStacked(const std::string& weight, const std::vector<Part>& parts);

    //- A vector of its own: its place in vectors()
    std::int64_t addVector(const std::string& name);

    //- Sums over rows whose results are gradients of these vectors, beside each other in the
    //  partial sums, each ld columns wide: number of the group
    int addSums(RowKind kind, int ld, const std::vector<std::string>& names);

    //- Once everything is added
    void allocate(const at::Device& device);

    //- From the flat parameters
    void pack(Stream stream, const A* flat);

    const T* packed() const { return packed_.data(); }
    const A* vectors() const { return vectors_.data(); }
    A* gradients() { return gradients_.data(); }

    //- For calls with these numbers of rows. Copies to the device if they are new; the last ones
    //  are kept.
    void prepare(const RowCounts& rows);

    //- Where a group's partial sums go
    A* partial(int group) { return partial_.data() + sums_.front().partial[group]; }

    //- Gradients into the order of the parameters
    void finish(Stream stream, A* flat);

private:

    struct Group
    {
        RowKind kind;
        int ld;
        std::vector<std::string> names;
    };

    //- Where the partial sums are for some numbers of rows
    struct Sums
    {
        RowCounts rows;
        std::vector<std::int64_t> partial;      // of each group
        at::Tensor there;                       // ColumnSum
        std::int64_t size;
    };

    Sums sumsFor(const RowCounts& rows) const;

    static constexpr std::size_t maxSums = 16;

    static std::int64_t take(std::int64_t& size, std::int64_t n);

    ParameterSet parameters_;
    at::Device device_{at::kCPU};
    std::vector<Segment> segments_;
    std::vector<Group> groups_;
    std::int64_t packedSize_ = 0;
    std::int64_t vectorsSize_ = 0;
    int nSums_ = 0;
    int widestSum_ = 0;

    std::vector<Sums> sums_;        // those in use come first
    at::Tensor segmentsThere_;
    Buffer<T> packed_;
    Buffer<A> vectors_;
    Buffer<A> gradients_;
    Buffer<A> partial_;
};

}
}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "graph/MeshGeometry.hpp"
#include "graph/MeshGraph.hpp"

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

namespace inSitu
{
namespace
{

// Lists what two objects hold until a difference is found
class Comparison
{
public:

    template<class T>
    Comparison& count(const char* what, T held, T fresh)
    {
        if (text_.empty() && held != fresh)
        {
            say(what, std::to_string(held), std::to_string(fresh));
        }
        return *this;
    }

    //- Entries of as many numbers as width
    template<class T>
    Comparison& entries(const std::string& what, Span<const T> held, Span<const T> fresh,
        std::size_t width = 1)
    {
        count(("number of entries for the " + what).c_str(), held.size(), fresh.size());
        if (text_.empty())
        {
            const auto differ = std::mismatch(held.begin(), held.end(), fresh.begin());
            if (differ.first != held.end())
            {
                const std::size_t i = (differ.first - held.begin())/width;
                say(what + ' ' + std::to_string(i), entry(&held[i*width], width),
                    entry(&fresh[i*width], width));
            }
        }
        return *this;
    }

    template<class T>
    Comparison& entries(const std::string& what, const std::vector<T>& held,
        const std::vector<T>& fresh, std::size_t width = 1)
    {
        return entries(what, Span<const T>(held), Span<const T>(fresh), width);
    }

    const std::string& text() const { return text_; }

private:

    void say(const std::string& what, const std::string& held, const std::string& fresh)
    {
        text_ = what + " is " + held + ", a fresh build gives " + fresh;
    }

    template<class T>
    static std::string entry(const T* values, std::size_t width)
    {
        std::ostringstream out;
        out.precision(17);
        for (std::size_t i = 0; i < width; ++i)
        {
            out << (i > 0 ? " " : "") << values[i];
        }
        return width > 1 ? '(' + out.str() + ')' : out.str();
    }

    std::string text_;
};


std::vector<std::int32_t> sentCells(const MeshGraph& graph)
{
    return graph.halo() ? graph.halo()->cells : std::vector<std::int32_t>();
}

}


std::string firstDifference(const MeshGraph& held, const MeshGraph& fresh)
{
    return Comparison()
        .count("the number of cells", held.nCells(), fresh.nCells())
        .count("the number of nodes", held.nNodes(), fresh.nNodes())
        .count("the number of internal faces", held.nInternalFaces(), fresh.nInternalFaces())
        .count("the number of edges", held.nEdges(), fresh.nEdges())
        .count("the number of halo rows", held.nHalo(), fresh.nHalo())
        .entries("cell for other ranks", sentCells(held), sentCells(fresh))
        .entries<std::int32_t>("first edge of node", held.receiverStart(), fresh.receiverStart())
        .entries<std::int32_t>("sender of edge", held.senders(), fresh.senders())
        .entries<std::int32_t>("face of edge", held.faceOf(), fresh.faceOf())
        .entries<std::int32_t>("reverse of edge", held.reverseEdge(), fresh.reverseEdge())
        .text();
}


std::string firstDifference(const MeshGeometry& held, const MeshGeometry& fresh)
{
    return Comparison()
        .entries("direction", held.directions, fresh.directions)
        .count("whether edges are weighted", held.weighted, fresh.weighted)
        .entries("centre of node", held.centres, fresh.centres, 3)
        .entries("volume of cell", held.cellVolumes, fresh.cellVolumes)
        .entries("displacement of coupled edge", held.displacements, fresh.displacements, 3)
        .entries("weight of coupled edge", held.weights, fresh.weights)
        .text();
}

}

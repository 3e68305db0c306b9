// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Precision.hpp"
#include "base/Stamped.hpp"
#include "buffer/Gather.hpp"
#include "graph/MeshGraph.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace inSitu
{

//- Columns that surface fields have on the edges of a graph
struct EdgeLayout
{
    RowLayout faces;                //!< a row per face
    std::vector<bool> oriented;     //!< of each column

    int nColumns() const { return faces.nColumns; }

    //- Columns of the given fields (indices into specs), in that order
    static EdgeLayout of(const std::vector<FieldSpec>& specs, const std::vector<int>& fields);
};


//- Takes surface fields on the edges of a graph. Each edge has the value of its face: that of an
//  oriented field (a flux, positive out of the owner of the face) with the sign that makes it
//  positive from sender to receiver, that of others as it is.
//
//  The views have the internal faces as their cells; their patches are those whose faces are
//  rows, then those that edges go through to cells, of this rank or of others, in the order of
//  their faces. Graphs with sliding interfaces, where a coupled face has any number of edges, are
//  not for it.
class EdgeGather
{
public:

    EdgeGather(EdgeLayout layout, Precision precision);

    int nColumns() const { return layout_.nColumns(); }

    //- Of the values on the edges of a graph
    std::size_t bytes(const MeshGraph& graph) const;

    //- Fill edges [nEdges, nColumns] of the precision. Allocates nothing as long as the graph is
    //  the same. As gatherRows(); the row of what it returns is the receiver of an edge
    //  through the face.
    template<class Scalar>
    NonFinite take(const std::shared_ptr<const MeshGraph>& graph,
        const std::vector<FieldView<Scalar>>& views, void* edges);

private:

    //- Where the value of an edge comes from
    struct Source
    {
        std::int32_t face;          // row among the faces of the views
        bool backward;              // the edge runs into the owner of the face
    };

    struct Sources
    {
        std::vector<Source> ofEdge;
        std::size_t nFaces = 0;
    };

    static Sources sourcesOf(const MeshGraph& graph);

    template<class Value, class Scalar>
    NonFinite takeAs(const MeshGraph& graph, const std::vector<FieldView<Scalar>>& views,
        std::vector<Value>& faces, Value* edges);

    EdgeLayout layout_;
    Precision precision_;
    std::vector<double> noReference_;
    Stamped<std::shared_ptr<const MeshGraph>, Sources> sources_{"edgeSources"};
    std::vector<float> single_;     // work memory, one row per face
    std::vector<double> double_;
};


//- Whether an edge runs into the owner of its face: against a flux that is positive
inline bool runsBackward(const MeshGraph& graph, std::int32_t edge, std::int32_t receiver)
{
    const bool internal = graph.faceOf()[edge] < graph.nInternalFaces();
    return !internal || receiver < graph.senders()[edge];
}

}

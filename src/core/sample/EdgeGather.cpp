// SPDX-License-Identifier: GPL-3.0-or-later
#include "sample/EdgeGather.hpp"

#include <algorithm>
#include <utility>

namespace inSitu
{

EdgeLayout EdgeLayout::of(const std::vector<FieldSpec>& specs, const std::vector<int>& fields)
{
    EdgeLayout layout;
    layout.faces = RowLayout::of(specs, fields, true);
    for (const int field : fields)
    {
        layout.oriented.insert(layout.oriented.end(), specs[field].nColumns(),
            specs[field].oriented);
    }
    return layout;
}


EdgeGather::EdgeGather(EdgeLayout layout, Precision precision)
:
    layout_(std::move(layout)),
    precision_(precision),
    noReference_(layout_.nColumns(), 0.0)
{}


std::size_t EdgeGather::bytes(const MeshGraph& graph) const
{
    return static_cast<std::size_t>(graph.nEdges())*nColumns()*bytesOf(precision_);
}


EdgeGather::Sources EdgeGather::sourcesOf(const MeshGraph& graph)
{
    std::vector<std::int32_t> coupled;
    for (std::int32_t edge = 0; edge < graph.nEdges(); ++edge)
    {
        if (graph.isCoupled(edge))
        {
            coupled.push_back(graph.faceOf()[edge]);
        }
    }
    std::sort(coupled.begin(), coupled.end());

    Sources sources;
    sources.nFaces = graph.nInternalFaces() + graph.nBoundary() + coupled.size();
    sources.ofEdge.reserve(graph.nEdges());
    for (std::int32_t receiver = 0; receiver < graph.nNodes(); ++receiver)
    {
        for (auto e = graph.receiverStart()[receiver]; e < graph.receiverStart()[receiver + 1]; ++e)
        {
            std::int32_t row = graph.faceOf()[e];
            if (graph.isCoupled(e))
            {
                const auto place = std::lower_bound(coupled.begin(), coupled.end(), row);
                row = graph.nInternalFaces() + graph.nBoundary()
                    + static_cast<std::int32_t>(place - coupled.begin());
            }
            else if (row >= graph.nInternalFaces())
            {
                row = graph.nInternalFaces() + graph.senders()[e] - graph.nCells();
            }
            sources.ofEdge.push_back({row, runsBackward(graph, e, receiver)});
        }
    }
    return sources;
}


template<class Value, class Scalar>
NonFinite EdgeGather::takeAs(const MeshGraph& graph, const std::vector<FieldView<Scalar>>& views,
    std::vector<Value>& faces, Value* edges)
{
    const Sources& sources = *sources_.value();
    const auto width = static_cast<std::size_t>(nColumns());
    faces.resize(sources.nFaces*width);
    NonFinite fault = gatherRows(layout_.faces, views, Span<const double>(noReference_),
        Span<Value>(faces));
    if (fault.field >= 0)
    {
        const auto edge = std::find_if(sources.ofEdge.begin(), sources.ofEdge.end(),
            [&](const Source& source) { return source.face == fault.row; });
        fault.row = graph.receivers()[edge - sources.ofEdge.begin()];
        return fault;
    }

    for (const Source& source : sources.ofEdge)
    {
        const Value* face = &faces[source.face*width];
        for (std::size_t c = 0; c < width; ++c)
        {
            *edges++ = source.backward && layout_.oriented[c] ? -face[c] : face[c];
        }
    }
    return fault;
}


template<class Scalar>
NonFinite EdgeGather::take(const std::shared_ptr<const MeshGraph>& graph,
    const std::vector<FieldView<Scalar>>& views, void* edges)
{
    sources_.get(graph, [&] { return sourcesOf(*graph); });
    return precision_ == Precision::float64
      ? takeAs(*graph, views, double_, static_cast<double*>(edges))
      : takeAs(*graph, views, single_, static_cast<float*>(edges));
}


template NonFinite EdgeGather::take(const std::shared_ptr<const MeshGraph>&,
    const std::vector<FieldView<float>>&, void*);
template NonFinite EdgeGather::take(const std::shared_ptr<const MeshGraph>&,
    const std::vector<FieldView<double>>&, void*);

}

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/Node.hpp"
#include "sample/PendingAccess.hpp"
#include "sample/TrainingCase.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace inSitu
{

//- What training and prediction have in common for the host that keeps one of them beside its mesh.
//  One thread calls. Every method may throw Error (see base/Error.hpp).
class InSituEngine : public PendingAccess
{
public:

    //- What the entries want of the mesh
    struct MeshOptions
    {
        bool boundaryRows = true;           //!< a row per boundary face
        bool halo = true;                   //!< cells of other ranks send through cut faces
        std::string cellZone;               //!< empty: all cells
        std::vector<std::string> features;  //!< of meshFeatures()
        bool mapsWaiting = true;            //!< values that wait are to be mapped with the cells
    };

    struct Report
    {
        bool due = false;                   //!< reportInterval reached: text holds the log block
        std::string text;
    };

    //- onError continue
    virtual bool goesOnAfterError() const = 0;

    //- Executions between two calls of check(); 0: none
    virtual std::int64_t selfCheckInterval() const = 0;

    virtual MeshOptions meshOptions() const = 0;

    //- The case has been handed over
    virtual bool begun() const = 0;

    //- The points have moved since the last call; the rows are the same
    virtual void setGeometry(CaseMesh mesh) = 0;

    //- The graph has changed. Inputs that wait go on waiting with these values on the new mesh if
    //  all of them are given; otherwise all are dropped and counted.
    virtual void setTopology(CaseMesh mesh, const std::vector<Pending>& pending) = 0;

    //- Compare everything that was made from a mesh with a fresh build. Throws Error naming cache
    //  and first entry that differs.
    virtual void check() = 0;

    //- Executions were left out: what waits for a target is forgotten
    virtual void gap() = 0;

    //- Apply a changed block as far as that is possible during a run, and refuse the rest with a
    //  warning. An invalid block throws and changes nothing.
    virtual void reconfigure(const Node& block) = 0;

    //- Count a (re)build of a cache of the host for the closing table
    virtual void countBuild(const std::string& cache, const std::string& reason,
        double seconds) = 0;

    //- Closing table and end record; later calls do nothing. Touches neither mesh nor fields.
    virtual void finish() = 0;
};

}

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "FaceMesh.hpp"
#include "InSituTrainer.hpp"

#include <cmath>
#include <vector>

namespace inSitu
{

//- A host program without a solver: nx × ny cells over a wall, on which a wave of U = (u, v, 0)
//  and p travels to the right and slowly decays.
//
//      y ▲   cells i + nx j, of size 0.5 × 0.25
//        └─► x          wall below row 0
class WaveCase
{
public:

    explicit WaveCase(int nx = 6, int ny = 5, double decayRate = 0.02)
    :
        nx_(nx),
        ny_(ny),
        decayRate_(decayRate)
    {}

    //- Everything but the folders
    TrainingCase theCase() const
    {
        TrainingCase theCase;
        theCase.fields =
        {
            {"U", "volVectorField", 3, {0, 1}, {"Ux", "Uy"}, {0, 1, -1, 0, 0, 0, 0}},
            {"p", "volScalarField", 1, {0}, {"p"}, {0, 2, -2, 0, 0, 0, 0}}
        };
        theCase.inputs = {0, 1};
        theCase.targets = {0, 1};
        theCase.staticColumns = {"isCell", "isWall", "isPatch", "U fixed", "p fixed"};
        theCase.versions = {"no OpenFOAM"};
        if (hasFlux_)
        {
            theCase.fields.push_back({"phi", "surfaceScalarField", 1, {0}, {"phi"},
                {0, 3, -1, 0, 0, 0, 0}, true});
            theCase.edgeInputs = {2};
        }
        return theCase;
    }

    //- From now on there is a third field, as input on edges
    void addFlux() { hasFlux_ = true; }

    FaceMesh faces() const
    {
        FaceMesh mesh;
        mesh.nCells = nx_*ny_;
        std::vector<std::int32_t> wallCells;
        for (int j = 0; j < ny_; ++j)
        {
            for (int i = 0; i < nx_; ++i)
            {
                const std::int32_t cell = i + nx_*j;
                if (i + 1 < nx_)
                {
                    mesh.owner.push_back(cell);
                    mesh.neighbour.push_back(cell + 1);
                }
                if (j + 1 < ny_)
                {
                    mesh.owner.push_back(cell);
                    mesh.neighbour.push_back(cell + nx_);
                }
                if (j == 0)
                {
                    wallCells.push_back(cell);
                }
            }
        }
        mesh.patches.push_back({static_cast<std::int32_t>(mesh.owner.size()), wallCells});
        return mesh;
    }

    //- Each cell cut into two in the direction of x
    void refine()
    {
        nx_ *= 2;
        dx_ /= 2;
        graph_ = nullptr;
    }

    //- The points lie at this time where the wave of them is
    void move(double time) { shift_ = 0.125*std::sin(3*time); }

    //- The mesh now. Its graph is the same object until it is refined.
    CaseMesh mesh()
    {
        if (!graph_)
        {
            makeGraph();
        }
        std::vector<double> centres;
        for (int row = 0; row < graph_->nNodes(); ++row)
        {
            centres.insert(centres.end(),
                {x(row), row >= graph_->nCells() ? 0 : y(row), 0.05});
        }

        CaseMesh mesh;
        mesh.state.graph = graph_;
        mesh.state.geometry = std::make_shared<MeshGeometry>(makeGeometry
        (
            *graph_, centres, std::vector<double>(graph_->nCells(), 0.025*dx_), {0, 1}
        ));
        mesh.state.staticFeatures = staticFeatures_;
        mesh.text = std::to_string(nx_*ny_) + " cells";
        mesh.placeOfRow = [](std::int64_t row) { return "row " + std::to_string(row); };
        return mesh;
    }

    int nCells() const { return nx_*ny_; }
    int nRows() const { return nx_*ny_ + nx_; }

    //- The fields at a time; valid until the next call
    const std::vector<FieldView<double>>& fields(double time)
    {
        U_.resize(3*nRows());
        p_.resize(nRows());
        for (int row = 0; row < nRows(); ++row)
        {
            const double phase = 2*x(row) - 1.5*time;
            const double decay = std::exp(-decayRate_*time);
            const bool wall = row >= nx_*ny_;
            U_[3*row] = wall ? 0 : 1 + 0.3*decay*std::sin(phase)*std::cos(1.3*y(row));
            U_[3*row + 1] = wall ? 0 : 0.2*decay*std::cos(phase + y(row));
            U_[3*row + 2] = 7;
            p_[row] = 1e5 + decay*std::cos(phase - 0.7*y(row));
        }
        views_.resize(2);
        views_[0] = view(U_, 3);
        views_[1] = view(p_, 1);
        if (hasFlux_)
        {
            const std::size_t nInternal = ny_*(nx_ - 1) + nx_*(ny_ - 1);
            phi_.resize(nInternal + nx_);
            for (std::size_t face = 0; face < phi_.size(); ++face)
            {
                phi_[face] = 0.02*std::sin(0.7*face - 1.5*time) + 0.01;
            }
            views_.push_back({{phi_.data(), nInternal}, {{phi_.data() + nInternal,
                static_cast<std::size_t>(nx_)}}});
        }
        return views_;
    }

    std::vector<double>& p() { return p_; }

private:

    void makeGraph()
    {
        graph_ = std::make_shared<MeshGraph>(faces().graph());

        auto features = std::make_shared<std::vector<float>>();
        for (int row = 0; row < graph_->nNodes(); ++row)
        {
            const bool wall = row >= graph_->nCells();
            for (const float feature : {!wall, wall, false, wall, false})
            {
                features->push_back(feature);
            }
        }
        staticFeatures_ = features;
    }

    double x(int row) const { return dx_*(0.5 + row % nx_) + shift_*(row % 3); }
    double y(int row) const { return 0.125 + 0.25*(row % (nx_*ny_)/nx_); }

    FieldView<double> view(const std::vector<double>& values, std::size_t nComponents) const
    {
        const std::size_t cells = nComponents*nx_*ny_;
        return {{values.data(), cells}, {{values.data() + cells, nComponents*nx_}}};
    }

    int nx_;
    int ny_;
    double decayRate_;
    double dx_ = 0.5;
    double shift_ = 0;
    bool hasFlux_ = false;
    std::shared_ptr<const MeshGraph> graph_;
    std::shared_ptr<const std::vector<float>> staticFeatures_;
    std::vector<double> U_;
    std::vector<double> p_;
    std::vector<double> phi_;
    std::vector<FieldView<double>> views_;
};

}

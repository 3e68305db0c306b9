// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/Schema.hpp"

namespace inSitu
{

//- What a closure may write into the solver's fields
struct ClosureConfig
{
    double relax = 1;                   //!< share of the new value
    std::string onOutlier = "clip";     //!< keep | clip | solver | abort
    double margin = 0.1;                //!< of the training range, on either side

    void describe(Schema& schema);
};


//- How far a rollout goes
struct RolloutConfig
{
    std::int64_t steps = 0;             //!< then it starts again from the solver; 0: never

    void describe(Schema& schema);
};


//- Which edges the graph has; the rest is as the model was trained
struct PredictorGraphConfig
{
    std::string halo = "exchange";      //!< exchange | none

    void describe(Schema& schema);
};


//- The entries of a meshPredictor
struct PredictorConfig
{
    std::string model;                  //!< file, or "trainer <name>"
    std::string mode = "compare";       //!< compare | rollout | closure
    ClosureConfig closure;
    RolloutConfig rollout;
    PredictorGraphConfig graph;
    bool writePrediction = true;        //!< register <field>Predicted and <field>Error
    std::string onModelChange = "reload";   //!< reload | keep
    std::string device = "auto";        //!< auto | cpu | cuda | cuda:N
    std::int64_t nThreads = 0;
    std::int64_t trainerRanks = 0;      //!< ranks of a node on which the network works; 0: all
    std::string onError = "abort";      //!< abort | continue
    std::string onNonFinite = "abort";  //!< abort | skip | warn
    std::string onTopologyChange = "map";   //!< map | drop
    std::int64_t selfCheck = 0;
    std::int64_t reportInterval = 20;   //!< executions

    //- Name of the meshTrainer in the same run; empty: model is a file
    std::string trainer() const;

    //- Why a key, or the entry `limits`, has no effect; empty: it has one
    std::string complaintAbout(const std::string& key) const;

    void describe(Schema& schema);
};

}

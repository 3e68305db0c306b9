// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/Schema.hpp"

namespace inSitu
{

//- Which rows and edges the graph has
struct GraphConfig
{
    bool boundaryNodes = true;
    std::string halo = "exchange";      //!< exchange | none

    void describe(Schema& schema);
};


//- Completed samples to draw from
struct BufferConfig
{
    std::int64_t capacity = 256;        //!< samples
    std::string policy = "reservoir";   //!< fifo | reservoir
    std::int64_t watermark = 4;         //!< nothing is trained below this number of samples
    double maxMemory = 0;               //!< MiB of a node; 0: a tenth of its memory
    std::string location = "auto";      //!< auto | host | device: where rows of samples are too
    bool checkpoint = true;             //!< contents are part of a checkpoint

    void describe(Schema& schema);
};


struct NormaliserConfig
{
    double memory = 100;                //!< samples after which a sample's weight has fallen to 1/e
    std::optional<std::int64_t> freezeAfter;    //!< samples after which the scales stay

    void describe(Schema& schema);
};


//- Samples on their way from the solver's thread to the trainer's
struct QueueConfig
{
    std::int64_t slots = 2;             //!< samples that wait or are being learnt
    std::string onLag = "block";        //!< block | dropOldest | dropNewest | reservoir

    void describe(Schema& schema);
};


//- The entries at the top level of the function object, its training block excepted
struct ObjectConfig
{
    //- One entry of inputs or targets: a field's name, or in quotes a regular expression
    using FieldPattern = Pattern;

    std::vector<FieldPattern> inputs;
    std::vector<FieldPattern> targets;
    std::string target = "increment";   //!< increment | value
    std::int64_t horizon = 1;           //!< executions ahead
    std::optional<double> horizonTime;  //!< s ahead, instead
    std::vector<std::string> features;  //!< input columns that are no fields: featureWords.hpp
    std::vector<FieldPattern> edgeInputs;   //!< surface fields
    GraphConfig graph;
    BufferConfig buffer;
    NormaliserConfig normaliser;
    std::string cellZone;               //!< loss only over the cells of this zone; empty: all
    std::string mode = "sync";          //!< sync | async
    QueueConfig queue;
    double noise = 0;                   //!< deviation of the noise on normalised inputs of cells
    std::int64_t nThreads = 0;          //!< 0: the cores that this process may use
    std::int64_t trainerRanks = 0;      //!< ranks of a node that train; 0: all
    std::string resume = "auto";        //!< auto | strict | fresh
    std::string onError = "abort";      //!< abort | continue
    std::string onNonFinite = "abort";  //!< abort | skip | warn
    std::string onTopologyChange = "map";   //!< map | drop
    std::int64_t maxBadSteps = 10;      //!< training steps in a row that may be not finite
    std::int64_t checkReplicas = 100;   //!< training steps between two checks that all ranks have
                                        //!< the same weights; 0: none
    std::int64_t selfCheck = 0;         //!< executions between two checks of all caches; 0: none
    std::int64_t reportInterval = 20;   //!< executions
    std::optional<double> maxFraction;  //!< share of the wall time that training may take
    bool writePrediction = false;       //!< register <field>Predicted and <field>Error
    std::string initialWeights;         //!< file or checkpoint to start from; empty: none
    std::vector<std::string> exports;   //!< further formats of the artifact: mdlus
    std::string trainingFile;           //!< empty: the block `training`; see insertTrainingFile

    //- Inputs that wait are mapped to new cells; nothing maps values on edges
    bool mapsWaiting() const { return onTopologyChange == "map" && edgeInputs.empty(); }

    void describe(Schema& schema);
};

}

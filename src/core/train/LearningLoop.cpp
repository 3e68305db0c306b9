// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/LearningLoop.hpp"

#include "base/Error.hpp"
#include "base/agree.hpp"
#include "base/threadsOf.hpp"
#include "base/Text.hpp"
#include "train/loopLayout.hpp"

#include <algorithm>

namespace inSitu
{
namespace
{

// So many were seen to help, see docs/performance.md
constexpr int maxGatherers = 12;


OnLag onLag(const Settings& settings)
{
    const std::string& word = settings.object.queue.onLag;
    return word == "block" ? OnLag::block
        : word == "dropOldest" ? OnLag::dropOldest
        : word == "dropNewest" ? OnLag::dropNewest : OnLag::reservoir;
}


//- Of "dropOldest" and its like, what they are called where they are counted
std::string lagReason(const Settings& settings)
{
    const std::string& word = settings.object.queue.onLag;
    return word == "dropOldest" ? "lagOldest" : word == "dropNewest" ? "lagNewest" : "lagReservoir";
}


//- Each solver needs a core, if it does not wait
int threadsOfLearner(const Settings& settings, const Comm& comm, const LearningLoop::Warn& warn,
    int nSolvers)
{
    const int threads = threadsOf(settings.object.nThreads, comm, warn);
    return settings.isAsync() && settings.object.nThreads == 0 ? std::max(1, threads - nSolvers)
        : threads;
}

}


LearningLoop::LearningLoop
(
    const Settings& settings,
    const TrainingCase& theCase,
    const CaseMesh& mesh,
    std::shared_ptr<Comm> comm,
    Profiler& profiler,
    CountBuild count,
    Warn warn,
    const Place& place
)
:
    settings_(settings),
    case_(theCase),
    mesh_(&mesh),
    comm_(std::move(comm)),
    profiler_(profiler),
    warn_(std::move(warn)),
    outbox_(!settings.isAsync()),
    stream_(streamLayout(settings, theCase), mesh.state),
    learner_
    (
        settings,
        theCase,
        stream_,
        threadsOfLearner(settings, *comm_, warn_, place.nSolvers),
        commOfLearner(settings, comm_),
        settings.isAsync() ? profilerBeside_ : profiler,
        [this, count = std::move(count)]
        (const std::string& cache, const std::string& reason, double seconds)
        {
            outbox_.post([=] { count(cache, reason, seconds); });
        },
        [this](const std::string& message)
        {
            outbox_.post([this, message] { warn_(message); });
        },
        place.devices
    )
{
    if (comm_->size() > 1 && mesh.state.graph->halo()
     && !learner_.trainer().model().handlesHalo())
    {
        throw Error("model type " + settings.training.modelType + " sees the cells of its own rank"
            " only; 'graph { halo none; }' trains it so on several ranks");
    }
    learner_.normaliser().setMeshScales(meshScales(mesh.state, *comm_));
    // A restart finds the mesh that the run has come to
    const std::string shortage = limitMemory();
    if (!shortage.empty() && !(case_.meshMayChange && case_.startTime != 0))
    {
        throw Error(shortage);
    }
    warnOfShortage(shortage);

    if (settings.isAsync())
    {
        Trainer::warmUp();
        if (learner_.trainer().device() != "cpu")
        {
            // The cores beside the solver's have little to do then, and one alone copies slowly
            gatherers_ = std::make_unique<ThreadPool>(std::min(maxGatherers, learner_.nThreads()));
        }
        lane_ = std::make_unique<Lane<Parcel>>
        (
            static_cast<std::size_t>(settings.object.queue.slots),
            onLag(settings),
            static_cast<std::uint64_t>(settings.training.seed),
            comm_,
            learner_.comm(),
            [this](std::int64_t number, Parcel& parcel) { work(number, parcel); }
        );
    }
}


LearningLoop::~LearningLoop()
{
    if (lane_)
    {
        try
        {
            comm_->progress();
        }
        catch (const std::exception& error)
        {
            lane_->leave(error.what());
        }
    }
}


// Half of the memory is for what waits for its target, if that is as much
std::string LearningLoop::limitMemory()
{
    const ObjectConfig& object = settings_.object;
    const std::size_t memory = learner_.bufferLimits().memory;
    std::string shortage;
    const auto require = [&](std::int64_t number, std::size_t bytes, const std::string& what,
        const std::string& remedy)
    {
        if (shortage.empty() && static_cast<double>(number)*bytes > memory)
        {
            shortage = "buffer.maxMemory " + bytesText(memory) + " holds "
                + std::to_string(memory/bytes) + " samples of " + bytesText(bytes) + ", but " + what
                + " need " + std::to_string(number) + "; raise maxMemory or lower " + remedy;
        }
    };

    const MeshState& mesh = stream_.mesh();
    const auto largest = [this](std::size_t bytes)
        { return static_cast<std::size_t>(largestOf(*comm_, static_cast<double>(bytes))); };
    std::size_t perSample = stream_.bytesPerSample();
    std::size_t perPending = stream_.bytesPerPending();
    if (case_.meshMayChange)
    {
        perSample += mesh.graph->bytes() + mesh.geometry->bytes()
            + mesh.staticFeatures->size()*sizeof(float)
            + (mesh.cellMask ? mesh.cellMask->size()*sizeof(double) : 0)
            + (mesh.ids ? mesh.ids->bytes() : 0);
    }
    if (case_.meshMayChange && object.mapsWaiting())
    {
        // The host keeps the values ready for mapping
        perPending += sizeof(double)*(stream_.nRows()*stream_.layout().input.nColumns
            + stream_.nCells()*stream_.layout().target.nColumns);
    }
    perSample = largest(perSample);
    perPending = largest(perPending);
    require(std::max(settings_.training.batchSize, object.buffer.watermark), perSample,
        "batchSize and watermark", "them");
    watermark_ = std::clamp<std::int64_t>(memory/perSample, 1, object.buffer.watermark);

    const std::int64_t nInQueue = settings_.isAsync() ? object.queue.slots : 0;
    if (!object.horizonTime)
    {
        require(object.horizon + nInQueue, perPending, nInQueue > 0
            ? "the inputs within the horizon and the queue" : "the inputs within the horizon",
            nInQueue > 0 ? "horizon or queue.slots" : "it");
    }
    else
    {
        require(nInQueue, perPending, "the samples in the queue", "queue.slots");
        const std::size_t half = memory/2/perPending;
        const auto inQueue = static_cast<std::size_t>(nInQueue);
        stream_.setMaxWaiting(half > inQueue ? half - inQueue : 1);
    }
    return shortage;
}


// A mesh that has grown must not end a run that has come far
void LearningLoop::warnOfShortage(const std::string& shortage)
{
    if (!shortage.empty() && !isShortOfMemory_)
    {
        warn_("the mesh has grown: " + shortage + ". Training goes on with what fits");
    }
    isShortOfMemory_ = !shortage.empty();
}


void LearningLoop::setGeometry(const CaseMesh& mesh)
{
    mesh_ = &mesh;
    stream_.setGeometry(mesh.state);
}


void LearningLoop::setTopology
(
    const CaseMesh& mesh,
    const std::vector<PendingInputs::Values>& pending
)
{
    mesh_ = &mesh;
    const int lost = stream_.setTopology(mesh.state, pending);
    if (lost > 0)
    {
        dropped_["topologyChange"] += lost;
    }
    else
    {
        nMapped_ += static_cast<std::int64_t>(pending.size());
    }

    warnOfShortage(limitMemory());
}


template<class Scalar>
void LearningLoop::execute
(
    const Instant& now,
    const std::vector<FieldView<Scalar>>& views
)
{
    outbox_.deliver();
    lastHanded_.reset();
    ++executions_;
    if (lane_)
    {
        lane_->check();
        if ((executions_ & (executions_ - 1)) == 0)
        {
            // Any first use in the thread may have made something static in LibTorch
            lane_->renewExitStop();
        }
    }

    const SampleStream::Taken taken = [&]
    {
        ScopedTimer timer(profiler_, "gather");
        return stream_.take(now, views, *comm_, gatherers_.get());
    }();

    if (!taken.good)
    {
        leaveOut(firstText(*comm_, taken.fault.field < 0 ? std::string()
            : "field " + case_.fields[taken.fault.field].name
                + " is not finite, or too large for " + settings_.training.precision + ", in "
                + mesh_->placeOfRow(taken.fault.row) + " at time " + numberText(now.time)));
        return;
    }
    if (!taken.kept)
    {
        ++dropped_["memory"];
    }
    while (std::optional<PendingInputs::Completed> completed = stream_.next())
    {
        hand({std::move(completed), watermark_, {}});
    }
}


void LearningLoop::hand(Parcel parcel, bool patient)
{
    const bool isSample = parcel.sample.has_value();
    if (!lane_)
    {
        work(0, parcel);
        lastHanded_ = isSample ? 0 : lastHanded_;
        return;
    }

    ScopedTimer timer(profiler_, "wait");
    const std::int64_t number = lane_->nHanded();
    const auto verdict = lane_->hand(std::move(parcel), isSample, patient);
    if (isSample)
    {
        lastHanded_ = verdict.admitted ? std::optional<std::int64_t>(number) : std::nullopt;
    }
    if (!verdict.isClean())
    {
        ++dropped_[lagReason(settings_)];
    }
}


//- In the thread of the learner
void LearningLoop::work(std::int64_t number, Parcel& parcel)
{
    if (parcel.sample)
    {
        learner_.learn(*parcel.sample, parcel.watermark, [this, number]
        {
            if (lane_)
            {
                lane_->mark(number);
            }
        });
    }
    if (parcel.report)
    {
        outbox_.post([this, report = learner_.report(*parcel.report)]
        {
            reports_.push_back(report);
        });
    }
}


void LearningLoop::leaveOut(const std::string& message)
{
    if (settings_.object.onNonFinite == "abort")
    {
        throw Error(message + ". If the solution has not diverged, 'precision float64' holds"
            " larger values; 'onNonFinite skip' leaves such times out of the training");
    }
    ++dropped_["nonFinite"];
    drop();
    if (settings_.object.onNonFinite == "warn")
    {
        warn_(message + ": this time is left out of the training");
    }
}


void LearningLoop::askForReport(double time, std::int64_t timeIndex)
{
    if (executions_ % settings_.object.reportInterval == 0)
    {
        const std::vector<Snapshot>& pending = stream_.pending();
        hand({{}, watermark_, Learner::ReportTime{time, timeIndex, executions_, pending.size(),
            pending.empty() ? time : pending.front().time, dropped_}});
    }
}


std::optional<TrainingRecord::Report> LearningLoop::nextReport()
{
    outbox_.deliver();
    if (reports_.empty())
    {
        return std::nullopt;
    }
    TrainingRecord::Report report = std::move(reports_.front());
    reports_.pop_front();
    return report;
}


void LearningLoop::drop()
{
    dropped_["gap"] += stream_.drop();
}


bool LearningLoop::hasPrediction()
{
    if (!lastHanded_)
    {
        return false;
    }
    if (lane_)
    {
        ScopedTimer timer(profiler_, "wait");
        lane_->awaitMark(*lastHanded_);
    }
    return learner_.hasPrediction();
}


Span<const double> LearningLoop::prediction()
{
    return hasPrediction() ? learner_.prediction() : Span<const double>();
}


void LearningLoop::reconfigure(const Settings& settings)
{
    learner_.reconfigure(settings);
}


void LearningLoop::settle()
{
    if (lane_)
    {
        ScopedTimer timer(profiler_, "wait");
        lane_->drain();
    }
    learner_.settle();
    outbox_.deliver();
}


LearningLoop::Hold LearningLoop::hold()
{
    Hold hold;
    if (lane_)
    {
        ScopedTimer timer(profiler_, "wait");
        hold.emplace(lane_->hold());
    }
    learner_.settle();
    outbox_.deliver();
    return hold;
}


DropCounts LearningLoop::dropped() const
{
    DropCounts all = dropped_;
    for (const auto& [reason, count] : learner_.dropped())
    {
        all[reason] += count;
    }
    return all;
}


std::vector<Profiler::Stage> LearningLoop::stagesBeside() const
{
    return profilerBeside_.stages(*comm_);
}


StateTree LearningLoop::save()
{
    StateTree state;
    state.putInt("executions", executions_);
    state.putTree("stream", stream_.save());
    state.putTree("queue", saveParcels(waitingParcels()));
    learner_.save(state);
    return state;
}


std::vector<const Parcel*> LearningLoop::waitingParcels() const
{
    std::vector<const Parcel*> parcels;
    for (const Parcel& parcel : loaded_)
    {
        parcels.push_back(&parcel);
    }
    if (lane_)
    {
        for (const Lane<Parcel>::Entry& entry : lane_->entries())
        {
            parcels.push_back(&entry.item);
        }
    }
    return parcels;
}


// What samples may share with the run: a batch joins those on the same mesh
std::vector<MeshState> LearningLoop::sharedMeshes() const
{
    std::vector<MeshState> meshes{stream_.mesh()};
    for (const Snapshot& snapshot : stream_.pending())
    {
        meshes.push_back(snapshot.mesh);
    }
    return meshes;
}


std::vector<MeshState> LearningLoop::knownMeshes() const
{
    std::vector<MeshState> meshes = sharedMeshes();
    for (const Parcel* parcel : waitingParcels())
    {
        if (parcel->sample)
        {
            meshes.push_back(parcel->sample->sample.mesh);
        }
    }
    return meshes;
}


StateTree LearningLoop::savePart() const
{
    StateTree part;
    part.putTree("waiting", stream_.saveWaiting());
    part.putTree("queue",
        saveParcelValues(waitingParcels(), stream_.layout(), sharedMeshes()));
    learner_.savePart(part);
    return part;
}


StateTree LearningLoop::saveReplay() const
{
    return learner_.saveReplay(knownMeshes());
}


std::vector<std::string> LearningLoop::load
(
    const StateTree& state,
    const StateTree& part,
    const StateTree* replay
)
{
    // The one part that may refuse comes first
    const std::vector<std::string> notes = learner_.loadTrainer(state);

    executions_ = state.getInt("executions");
    const StateTree waiting = part.subTree("waiting");
    const int lost =
        stream_.load(state.subTree("stream"), waiting.has("mesh") ? &waiting : nullptr);
    if (lost > 0)
    {
        dropped_["gap"] += lost;
    }
    loaded_ = loadParcels(state.subTree("queue"), part.subTree("queue"), stream_.layout(),
        watermark_, sharedMeshes());
    learner_.load(state, part, replay, knownMeshes());
    return notes;
}


void LearningLoop::learnLoaded()
{
    for (Parcel& parcel : std::exchange(loaded_, {}))
    {
        hand(std::move(parcel), false);
    }
    lastHanded_.reset();
}


template void LearningLoop::execute(const Instant&, const std::vector<FieldView<float>>&);
template void LearningLoop::execute(const Instant&, const std::vector<FieldView<double>>&);

}

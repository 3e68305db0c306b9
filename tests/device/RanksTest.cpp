// SPDX-License-Identifier: GPL-3.0-or-later
#include "HostRanks.hpp"
#include "PassCase.hpp"
#include "SplitMesh.hpp"
#include "ThreadComm.hpp"
#include "WavePart.hpp"
#include "config/YamlFile.hpp"
#include "train/CaptureRunner.hpp"
#include "train/LearningLoop.hpp"

#ifdef INSITU_CUDA_EMULATED
#include "emulation/Device.hpp"
#else
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#endif

#include <mutex>

// Ranks that are threads, each with a GPU of its own: one model on a whole mesh and on its parts

namespace inSitu
{
namespace
{

using namespace test;

#ifdef INSITU_CUDA_EMULATED

at::Device deviceOf(const Comm&) { return at::kCPU; }
bool enoughDevices(int) { return true; }

std::shared_ptr<DeviceRanks> joined(Comm& comm)
{
    return std::make_shared<HostRanks>(borrowed(comm));
}

std::shared_ptr<DeviceLibrary> libraryOf(const Comm& comm)
{
    auto library = std::make_shared<EmulatedDevice>();
    library->firstBoard = comm.rank();
    return library;
}

#else

at::Device deviceOf(const Comm& comm)
{
    return {at::kCUDA, static_cast<c10::DeviceIndex>(comm.rank())};
}

bool enoughDevices(int n) { return c10::cuda::device_count() >= n; }

std::shared_ptr<DeviceRanks> joined(Comm& comm)
{
    return DeviceLibrary::open()->joinRanks(comm.rank(), borrowed(comm));
}

//- The one beside the core's
std::shared_ptr<DeviceLibrary> libraryOf(const Comm&) { return nullptr; }

#endif

#define INSITU_NEEDS_DEVICES(n) \
    if (!enoughDevices(n)) \
    { \
        GTEST_SKIP() << "fewer than " << n << " GPUs"; \
    }


//- Part of a case, as a rank has it
struct CasePart
{
    CasePart(const Case& whole, const FaceMesh& mesh, const FaceMesh::Indices& rankOf,
        const Comm& comm)
    :
        part(mesh, rankOf, comm.rank()),
        own(whole)
    {
        own.graph = part.graph(comm);
        std::vector<std::int64_t> chosen;
        for (std::int32_t node = 0; node < own.graph->nNodes(); ++node)
        {
            chosen.push_back(part.globalNode(node));
        }
        row = at::tensor(chosen, at::kLong);
        const auto columns = globalEdges(part, *own.graph, *whole.graph);
        edge = at::tensor(std::vector<std::int64_t>(columns.begin(), columns.end()), at::kLong);
        own.nodes = whole.nodes.index_select(1, row);
        own.edges = whole.edges.index_select(0, edge);
        own.weight = whole.weight.index_select(1, row);
    }

    //- What this rank should get
    Result of(const Result& truth) const
    {
        return {truth.output.index_select(1, row), truth.parameters,
            truth.nodes.index_select(1, row), truth.edges.index_select(0, edge)};
    }

    MeshPart part;
    Case own;
    at::Tensor row, edge;
};


template<class T>
void expectTheWhole(int nRanks, std::int64_t samples, bool recompute, double tolerance,
    double gradientTolerance)
{
    const WaveCase wave(7, 6);
    const FaceMesh mesh = wave.faces();
    const Case whole(oddSizes(), samples, std::make_shared<const MeshGraph>(mesh.graph()));
    const Result truth = onCpu(whole);
    const auto rankOf = raggedRanks(mesh.nCells, nRanks);
    std::mutex printing;
    std::vector<at::Tensor> gradients(static_cast<std::size_t>(nRanks));
    onRanks(nRanks, [&](Comm& comm)
    {
        const CasePart part(whole, mesh, rankOf, comm);
        const auto pass = devicePass<T>(whole, recompute, false, joined(comm), deviceOf(comm));
        for (int repetition = 0; repetition < 2; ++repetition)
        {
            const Result got =
                runPass<Accumulator<T>>(*pass, part.own, deviceOf(comm), repetition == 0);
            const std::lock_guard<std::mutex> lock(printing);
            gradients[comm.rank()] = got.parameters.to(at::kCPU);
            if (repetition == 0)
            {
                expectClose("rank " + std::to_string(comm.rank()), whole, got, part.of(truth),
                    tolerance, gradientTolerance);
            }
        }
    });
    for (const at::Tensor& gradient : gradients)
    {
        EXPECT_TRUE(at::equal(gradient, gradients.front()));
        EXPECT_LE(relativeError(gradient, truth.parameters), gradientTolerance);
    }
}


//- A mesh some of whose inner faces are cut, and lead back to the same rank
struct Loop
{
    Loop(const Case& whole, FaceMesh mesh, const Comm& comm)
    :
        own(whole)
    {
        const FaceMesh uncut = mesh;
        std::vector<HaloLink> links;
        mesh.owner.clear();
        mesh.neighbour.clear();
        for (std::size_t face = 0; face < uncut.owner.size(); ++face)
        {
            const auto o = uncut.owner[face];
            const auto n = uncut.neighbour[face];
            if (face % 4 == 1)
            {
                links.push_back({o, 0, 0, n});
                links.push_back({n, 0, 0, o});
                continue;
            }
            mesh.owner.push_back(o);
            mesh.neighbour.push_back(n);
        }
        const auto nCut = static_cast<std::int32_t>(uncut.owner.size() - mesh.owner.size());
        std::int32_t next = static_cast<std::int32_t>(mesh.owner.size());
        for (FaceMesh::Patch& patch : mesh.patches)
        {
            patch.firstFace -= nCut;
            next = patch.firstFace + static_cast<std::int32_t>(patch.cells.size());
        }
        for (HaloLink& link : links)
        {
            link.face = next++;
        }
        own.graph = std::make_shared<const MeshGraph>(mesh.graph().withHalo(links, comm));

        std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> edgeOf;
        for (std::int32_t e = 0; e < whole.graph->nEdges(); ++e)
        {
            edgeOf[{whole.graph->receivers()[e], whole.graph->senders()[e]}] = e;
        }
        std::vector<std::int64_t> edges;
        for (std::int32_t e = 0; e < own.graph->nEdges(); ++e)
        {
            const std::int32_t sender = own.graph->senders()[e];
            const std::int32_t halo = sender - own.graph->nNodes();
            edges.push_back(edgeOf.at(
                {own.graph->receivers()[e], halo < 0 ? sender : links[halo].remoteCell}));
        }
        edge = at::tensor(edges, at::kLong);
        own.edges = whole.edges.index_select(0, edge);
    }

    Case own;
    at::Tensor edge;
};


//- One GPU will do for this
TEST(PassOfOneRank, mayHaveItselfAsNeighbour)
{
    INSITU_NEEDS_DEVICE();
    const FaceMesh mesh = WaveCase(7, 6).faces();
    const Case whole(oddSizes(), 3, std::make_shared<const MeshGraph>(mesh.graph()));
    const Result truth = onCpu(whole);
    onRanks(1, [&](Comm& comm)
    {
        const Loop loop(whole, mesh, comm);
        ASSERT_GT(loop.own.graph->nHalo(), 20);
        const auto ranks = joined(comm);
        for (const bool recompute : {false, true})
        {
            const auto pass = devicePass<double>(whole, recompute, false, ranks);
            for (int repetition = 0; repetition < 2; ++repetition)
            {
                const Result got = runPass<double>(*pass, loop.own, testDevice());
                expectClose("own neighbour", whole, got, {truth.output, truth.parameters,
                    truth.nodes, truth.edges.index_select(0, loop.edge)}, 1e-12, 1e-11);
            }
        }
    });
}


#ifndef INSITU_CUDA_EMULATED

TEST(PassOfOneRank, mayBeRecorded)
{
    INSITU_NEEDS_DEVICE();
    const FaceMesh mesh = WaveCase(7, 6).faces();
    const Case whole(oddSizes(), 2, std::make_shared<const MeshGraph>(mesh.graph()));
    onRanks(1, [&](Comm& comm)
    {
        const Loop loop(whole, mesh, comm);
        const auto ranks = joined(comm);
        const auto pass = devicePass<device::BFloat16>(whole, false, false, ranks);
        const auto queue = DeviceLibrary::open()->makeQueue(0, ranks);
        PassRun<float> run(*pass, loop.own, testDevice());
        const auto finish = [&] { queue->waitFor(queue->mark()); };
        const auto work = [&] { run(); };
        queue->put(work);
        finish();
        const Result eager{run.result.output.clone(), run.result.parameters.clone(), {}, {}};
        const auto recording = queue->record(work);
        for (int repetition = 0; repetition < 3; ++repetition)
        {
            run.result.output.fill_(777);
            run.result.parameters.fill_(777);
            c10::cuda::device_synchronize();
            recording->replay();
            finish();
            EXPECT_TRUE(at::equal(run.result.output, eager.output));
            EXPECT_TRUE(at::equal(run.result.parameters, eager.parameters));
        }
    });
}


//- Who waits on the GPU for a rank that has failed is told, and not kept waiting: neither by a pass nor
//  by one that was recorded, not even where it goes on with what CUDA has to load first
void expectTheEnd(int nPasses)
{
    const FaceMesh mesh = WaveCase(7, 6).faces();
    const Case whole(oddSizes(), 1, std::make_shared<const MeshGraph>(mesh.graph()));
    const auto rankOf = raggedRanks(mesh.nCells, 2);
    std::string told;
    EXPECT_THROW(onRanks(2, [&](Comm& comm)
    {
        const auto library = DeviceLibrary::open();
        const CasePart part(whole, mesh, rankOf, comm);
        const auto ranks = joined(comm);
        const auto pass = devicePass<float>(whole, false, false, ranks, deviceOf(comm));
        const auto queue = library->makeQueue(comm.rank(), ranks);
        CaptureRunner runner(library, queue, ranks, CaptureRunner::Mode::required, 2, nullptr);
        PassRun<float> run(*pass, part.own, deviceOf(comm));
        const auto work = [&] { run(); };
        const auto passOnce = [&] { runner.run(CaptureKey().add(std::int64_t(1)), work); };
        for (int i = 0; i < nPasses; ++i)
        {
            passOnce();
        }
        queue->waitFor(queue->mark());
        if (comm.rank() == 1)
        {
            throw Error("of memory there was too little");
        }
        try
        {
            passOnce();
            runner.run(CaptureKey().add(std::int64_t(2)), [&] { run.result.output.erfinv_(); });
            queue->waitFor(queue->mark());
        }
        catch (const Error& error)
        {
            told = error.what();
        }
    }), Error);
    EXPECT_NE(told.find("too little"), std::string::npos) << told;
}


TEST(RanksOfPass, endWhenOneLeaves)
{
    INSITU_NEEDS_DEVICE();
    INSITU_NEEDS_DEVICES(2);
    for (const int nPasses : {0, 2, 7})
    {
        expectTheEnd(nPasses);
    }
}

#endif


TEST(RanksOfPass, haveThePassOfTheWhole)
{
    INSITU_NEEDS_DEVICE();
    INSITU_NEEDS_DEVICES(2);
    for (const bool recompute : {false, true})
    {
        expectTheWhole<double>(2, recompute ? 3 : 1, recompute, 1e-12, 1e-11);
    }
    expectTheWhole<float>(2, 2, false, 1e-5, 1e-4);
    expectTheWhole<device::BFloat16>(2, 2, false, 3e-2, 0.3);
}


TEST(RanksOfPass, mayBeThree)
{
    INSITU_NEEDS_DEVICE();
    INSITU_NEEDS_DEVICES(3);
    expectTheWhole<double>(3, 2, false, 1e-12, 1e-11);
}


//- Losses of the reports, and the weights
struct Learnt
{
    std::vector<double> losses;
    std::map<std::string, std::string> state;
};


// The emulation is slow
constexpr int nSteps = isEmulated ? 9 : 30;
const std::string network = isEmulated
    ? "{type: meshGraphNet, processorSize: 1, hiddenSize: 4}"
    : "{type: meshGraphNet, processorSize: 2, hiddenSize: 24}";


Learnt learnOn(int nRanks, const std::string& mode, const std::string& training)
{
    const Settings settings = readSettings(parseYaml("inputs: [U, p]\ntargets: [U, p]\nhorizon: 2\n"
        "reportInterval: 1\nnThreads: 1\nnoise: 0.03\nbuffer: {capacity: 9, watermark: 2}\n"
        "checkReplicas: 5\n" + mode
        + "training: {device: cuda, seed: 7, batchSize: 3, stepsPerExecute: 2,"
          " model: " + network + ", optimizer: {type: adam, learningRate: 0.0078125,"
          " gradAccumulationSteps: 2,"
          " maxGradNorm: 0.4}" + training + "}\n", "controlDict"), "surrogate", ".", {});
    Learnt learnt;
    onRanks(nRanks, [&](Comm& comm)
    {
        WaveCase whole(7, 6);
        WavePart host(whole, raggedRanks(whole.nCells(), nRanks), comm);
        TrainingCase theCase = host.theCase();
        theCase.meshMayChange = true;
        CaseMesh mesh = host.mesh();
        Profiler profiler;
        LearningLoop::Place place;
        place.devices = libraryOf(comm);
        LearningLoop loop(settings, theCase, mesh, borrowed(comm), profiler,
            [](const std::string&, const std::string&, double) {},
            [](const std::string& warning) { ADD_FAILURE() << warning; }, place);
        EXPECT_EQ(loop.trainer().device().rfind("cuda:", 0), 0u) << loop.trainer().device();

        std::vector<double> losses;
        const auto takeReports = [&]
        {
            while (const auto report = loop.nextReport())
            {
                losses.push_back(std::isfinite(report->loss) ? report->loss : -1);
            }
        };
        for (int step = 1; step <= nSteps; ++step)
        {
            const double time = 0.1*step;
            if (step == nSteps - 2)
            {
                host.whole().move(0.3);
                mesh = host.mesh();
                loop.setGeometry(mesh);
            }
            loop.execute({time, step, 0.1}, host.fields(time));
            loop.askForReport(time, step);
            takeReports();
        }
        loop.settle();
        takeReports();
        EXPECT_EQ(loop.badSteps(), 0);
        const StateTree state = loop.save();
        if (comm.isMaster())
        {
            learnt.losses = losses;
            for (const auto& [name, array] : state.arrays())
            {
                learnt.state[name] = {static_cast<const char*>(array.data.get()), array.bytes()};
            }
        }
    });
    EXPECT_EQ(learnt.losses.size(), static_cast<std::size_t>(nSteps));
    return learnt;
}


void expectTheLossesOfOne(int nRanks, const std::string& training, double tolerance)
{
    const Learnt one = learnOn(1, "", training);
    const Learnt several = learnOn(nRanks, "", training);
    double worst = 0;
    int n = 0;
    for (std::size_t i = 0; i < one.losses.size(); ++i)
    {
        if (one.losses[i] > 0)
        {
            ++n;
            worst = std::max(worst,
                std::abs(several.losses.at(i) - one.losses[i])/std::abs(one.losses[i]));
        }
    }
    std::cout << "  " << nRanks << " ranks: losses of " << n << " reports within " << worst
        << " of " << tolerance << std::endl;
    EXPECT_GT(n, nSteps/2);
    EXPECT_LE(worst, tolerance);
}


TEST(RanksOfTrainer, learnAsOne)
{
    INSITU_NEEDS_DEVICE();
    INSITU_NEEDS_DEVICES(2);
    expectTheLossesOfOne(2, ", precision: float64, capture: yes", 1e-9);
    expectTheLossesOfOne(2, ", precision: float32", 1e-5);
}


TEST(RanksOfTrainer, learnTheSameInAThreadOfTheirOwn)
{
    INSITU_NEEDS_DEVICE();
    INSITU_NEEDS_DEVICES(2);
    const std::string training = ", precision: bfloat16";
    const Learnt sync = learnOn(2, "", training);
    const Learnt async = learnOn(2, "mode: async\nqueue: {slots: 3}\n", training);
    const Learnt eager = learnOn(2, "", training + ", capture: no");
    EXPECT_EQ(async.losses, sync.losses);
    EXPECT_EQ(async.state, sync.state);
    EXPECT_EQ(eager.losses, sync.losses);
    EXPECT_EQ(eager.state, sync.state);
}

}
}

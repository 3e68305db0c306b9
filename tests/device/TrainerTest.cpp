// SPDX-License-Identifier: GPL-3.0-or-later
#include "DeviceSupport.hpp"
#include "TrainCase.hpp"

#ifdef INSITU_CUDA_EMULATED
#include "emulation/Device.hpp"
#endif

#include <chrono>
#include <limits>
#include <utility>

// The trainer on a device against the one on the CPU, captured against eager steps. What the host
// does about it is tested with plain loops in DeviceTrainerTest.

namespace inSitu
{
namespace
{

using namespace test;

//- Null: the one beside the core's
std::shared_ptr<DeviceLibrary> testLibrary()
{
#ifdef INSITU_CUDA_EMULATED
    return std::make_shared<EmulatedDevice>();
#else
    return nullptr;
#endif
}

using Entries = std::vector<std::pair<std::string, std::string>>;

Entries with(Entries entries, const Entries& more)
{
    for (const auto& entry : more)
    {
        entries.erase(std::remove_if(entries.begin(), entries.end(),
            [&](const auto& e) { return e.first == entry.first; }), entries.end());
        entries.push_back(entry);
    }
    return entries;
}

// Rates are exact in float32
const Entries small{{"device", "cuda"}, {"capture", "yes"},
    {"model.processorSize", isEmulated ? "2" : "3"}, {"model.hiddenSize", isEmulated ? "8" : "24"},
    {"optimizer.learningRate", "0.00390625"}, {"optimizer.maxGradNorm", "0.5"}};


template<class Value>
struct Course
{
    Course(const Entries& entries, const TrainCase<Value>& theData, double noise = 0,
        const std::string& location = "host")
    :
        data(theData),
        scales(data.normaliser())
    {
        TrainerLayout layout = data.layout();
        layout.noise = noise;
        layout.inputOfTarget = {1, -1};
        layout.devices = testLibrary();
        layout.buffer.location = location;
        layout.note = [](const std::string& text) { std::cout << "  note: " << text << std::endl; };
        bench = std::make_unique<TrainerBench>(trainingConfig(entries), layout);
    }

    //- Steps first to last - 1, now and then with a sample on another mesh; what they gave
    void train(int first, int last)
    {
        for (int k = first; k < last; ++k)
        {
            std::vector<Sample> batch{data.sample(k), data.sample(3*k + 1)};
            if (k % 4 == 3)
            {
                batch.push_back(other.sample(k));
            }
            bench->trainer.start(batch, scales);
            take(false);
            if (k % 5 == 4)
            {
                bench->prediction(data.sample(k), scales, data.nCells());
            }
        }
        take(true);
    }

    //- The scales are other ones from now on
    void follow(const Normaliser& next)
    {
        bench->trainer.followScales(scales.target(), next.target());
        scales = next;
    }

    void take(bool wait)
    {
        for (const Trainer::Step& step : bench->trainer.ended(wait))
        {
            steps.push_back(step);
        }
    }

    at::Tensor weights() { return bench->weights().to(at::kCPU); }

    const TrainCase<Value>& data;
    const TrainCase<Value> other{4, 7};
    Normaliser scales;
    std::unique_ptr<TrainerBench> bench;
    std::vector<Trainer::Step> steps;
};


double change(const at::Tensor& a, const at::Tensor& b)
{
    return ((a - b).norm()/b.norm()).item<double>();
}


//- Largest relative difference of the losses
template<class Value>
double distance(const Course<Value>& a, const Course<Value>& b)
{
    EXPECT_EQ(a.steps.size(), b.steps.size());
    double worst = 0;
    for (std::size_t k = 0; k < b.steps.size(); ++k)
    {
        worst = std::max(worst, std::abs(a.steps[k].loss - b.steps[k].loss)/b.steps[k].loss);
        EXPECT_EQ(a.steps[k].updated, b.steps[k].updated);
    }
    return worst;
}


TEST(TrainerOnDevice, LearnsAsTheCpu)
{
    INSITU_NEEDS_DEVICE();
    const int nSteps = isEmulated ? 8 : 40;
    const TrainCase<double> data;
    for (const Entries& more : std::vector<Entries>{
        {},
        {{"optimizer.type", "sgd"}, {"optimizer.momentum", "0.5"},
            {"optimizer.dampening", "0.25"}},
        {{"optimizer.type", "adamw"}, {"optimizer.gradAccumulationSteps", "3"},
            {"loss.type", "l1"}, {"recompute", "yes"}}})
    {
        const Entries entries = with(with(small, {{"precision", "float64"}}), more);
        Course<double> there(entries, data, 0.1);
        Course<double> here(with(entries, {{"device", "cpu"}}), data, 0.1);
        there.train(0, nSteps);
        here.train(0, nSteps);
        const double ofLosses = distance(there, here);
        const double ofWeights = change(there.weights(), here.weights());
        std::cout << "  " << there.bench->trainer.device() << ": losses within " << ofLosses
            << ", weights within " << ofWeights << std::endl;
        EXPECT_LT(ofLosses, 1e-8);
        EXPECT_LT(ofWeights, 1e-8);
    }
}


//- In float32 both round, each in its way, and the scales move as in a run. A relu that rounding puts
//  on the other side of zero is no small difference any more, and Adam makes more of any: there a
//  rate that is 2.6e-6 larger tells how far the CPU leaves itself.
TEST(TrainerOnDevice, LeavesTheCpuByRoundingAlone)
{
    INSITU_NEEDS_DEVICE();
    const int nSteps = isEmulated ? 10 : 100;
    const TrainCase<float> data;
    for (const auto& [optimizer, activation] :
        {std::pair("adam", "silu"), {"sgd", "silu"}, {"sgd", "relu"}, {"adam", "relu"}})
    {
        const Entries entries =
            with(small, {{"optimizer.type", optimizer}, {"model.activation", activation}});
        const Entries host = with(entries, {{"device", "cpu"}});
        Course<float> there(entries, data, 0.1);
        Course<float> here(host, data, 0.1);
        Course<float> nudged(with(host, {{"optimizer.learningRate", "0.00390626"}}), data, 0.1);
        for (Course<float>* run : {&there, &here, &nudged})
        {
            for (int k = 0; k < nSteps; k += 5)
            {
                run->train(k, k + 5);
                run->follow(data.normaliser(3 + k/5, 1 + 0.4*std::sin(0.1*k), 0.004*k));
            }
        }
        const double rounding = distance(there, here);
        const double nudge = distance(nudged, here);
        std::cout << "  " << optimizer << ", " << activation << ": losses within " << rounding
            << ", with a nudged rate within " << nudge << std::endl;
        EXPECT_LT(rounding, std::max(1e-5, 5*nudge));
        EXPECT_GT(std::abs(here.steps.front().loss/here.steps.back().loss - 1), 0.1);
    }
}


//- Batches that the device makes, and rows that stay there
template<class Value>
void expectTheBatchesOfTheHost(const std::string& precision, const std::string& capture)
{
    const TrainCase<Value> data;
    const Entries entries = with(small, {{"precision", precision}, {"capture", capture}});
    Course<Value> host(entries, data, 0.1);
    Course<Value> cast(with(entries, {{"castOn", "device"}}), data, 0.1);
    Course<Value> kept(entries, data, 0.1, "device");
    for (Course<Value>* run : {&host, &cast, &kept})
    {
        for (int k = 0; k < (isEmulated ? 5 : 40); k += 5)
        {
            run->train(k, k + 5);
            run->follow(data.normaliser(3 + k/5, 1 + 0.4*std::sin(0.1*k), 0.004*k));
        }
    }
    EXPECT_TRUE(kept.bench->trainer.keepsSamplesThere());
    for (Course<Value>* run : {&cast, &kept})
    {
        EXPECT_EQ(firstDifference(host.bench->trainer.save(), run->bench->trainer.save()), "")
            << precision << ", capture " << capture;
    }
}


TEST(TrainerOnDevice, MakesTheBatchesOfTheHostToTheBit)
{
    INSITU_NEEDS_DEVICE();
    expectTheBatchesOfTheHost<float>("bfloat16", "yes");
    expectTheBatchesOfTheHost<double>("float64", "no");
#ifndef INSITU_CUDA_EMULATED
    expectTheBatchesOfTheHost<float>("float16", "yes");
    expectTheBatchesOfTheHost<float>("float32", "no");
    expectTheBatchesOfTheHost<double>("float64", "yes");
#endif
}


#ifndef INSITU_CUDA_EMULATED

TEST(TrainerOnDevice, CapturedIsEagerToTheBit)
{
    INSITU_NEEDS_DEVICE();
    for (const std::string precision : {"float32", "bfloat16", "float16"})
    {
        const TrainCase<float> data;
        const Entries entries = with(small, {{"precision", precision}});
        Course<float> captured(entries, data);
        Course<float> eager(with(entries, {{"capture", "no"}}), data);
        for (Course<float>* run : {&captured, &eager})
        {
            run->train(0, 22);
            run->bench->trainer.followScales(run->scales.target(),
                data.normaliser(3, 2, 0.25).target());
            run->train(22, 26);
            run->bench->trainer.reconfigure(trainingConfig(with(entries,
                {{"optimizer.learningRate", "0.0009765625"}})));
            run->train(26, 40);
        }
        EXPECT_TRUE(at::equal(captured.weights(), eager.weights())) << precision;
        EXPECT_EQ(firstDifference(captured.bench->trainer.save(), eager.bench->trainer.save()), "")
            << precision;
        std::cout << "  " << precision << ": loss " << captured.steps.front().loss << " to "
            << captured.steps.back().loss << std::endl;
        EXPECT_NE(captured.steps.back().loss, captured.steps.front().loss);
    }
}


// Copies that would overtake, or be overtaken, show where there is more to copy than to compute
TEST(TrainerOnDevice, StepsInARowAreStepsOneByOneToTheBit)
{
    INSITU_NEEDS_DEVICE();
    const TrainCase<float> data(210, 150);
    const Entries entries = with(small, {{"model.processorSize", "1"}, {"model.hiddenSize", "8"}});
    for (const std::string castOn : {"host", "device"})
    {
        for (const std::string location : {"host", "device"})
        {
            const Entries those = with(entries, {{"castOn", castOn}});
            Course<float> inARow(those, data, 0.01, location);
            Course<float> oneByOne(those, data, 0.01, location);
            inARow.train(0, 24);
            for (int k = 0; k < 24; ++k)
            {
                oneByOne.train(k, k + 1);
            }
            ASSERT_EQ(inARow.steps.size(), 24u);
            for (std::size_t k = 0; k < 24; ++k)
            {
                EXPECT_EQ(inARow.steps[k].loss, oneByOne.steps[k].loss) << k << castOn << location;
            }
            EXPECT_TRUE(at::equal(inARow.weights(), oneByOne.weights())) << castOn << location;
        }
    }
}


TEST(TrainerOnDevice, TrainersAndPredictionsDoNotDisturbEachOther)
{
    INSITU_NEEDS_DEVICE();
    const TrainCase<float> data;
    Course<float> alone(small, data);
    alone.train(0, 30);

    Course<float> one(small, data);
    Course<float> two(with(small, {{"model.hiddenSize", "40"}}), data);
    for (int k = 0; k < 30; k += 3)
    {
        one.train(k, k + 3);
        two.train(k, k + 3);
    }
    EXPECT_TRUE(at::equal(alone.weights(), one.weights()));
}


TEST(TrainerOnDevice, GoesOnFromTheCpuAndBack)
{
    INSITU_NEEDS_DEVICE();
    const TrainCase<double> data;
    const Entries gpu = with(small, {{"precision", "float64"},
        {"optimizer.gradAccumulationSteps", "2"}});
    const Entries cpu = with(gpu, {{"device", "cpu"}});
    Course<double> first(cpu, data), second(gpu, data), third(cpu, data), whole(cpu, data);
    first.train(0, 7);
    second.bench->trainer.load(first.bench->trainer.save());
    EXPECT_EQ(firstDifference(first.bench->trainer.save(), second.bench->trainer.save()), "");
    second.train(7, 20);
    third.bench->trainer.load(second.bench->trainer.save());
    third.train(20, 26);
    whole.train(0, 26);
    EXPECT_LT(change(third.weights(), whole.weights()), 1e-8);
}


TEST(TrainerOnDevice, Float16SkipsAnOverflowAndGoesOn)
{
    INSITU_NEEDS_DEVICE();
    const TrainCase<float> data;
    Course<float> run(with(small, {{"precision", "float16"}}), data);
    run.train(0, 8);
    const at::Tensor before = run.weights();
    const auto count = run.steps.size();
    Sample bad = data.sample(1);
    bad.target = slotOf(std::vector<float>(static_cast<std::size_t>(data.nCells()*2), 1e30f));
    run.bench->trainer.start({bad, data.sample(4)}, run.scales);
    run.take(true);
    EXPECT_TRUE(run.steps[count].overflow);
    EXPECT_TRUE(at::equal(before, run.weights()));
    run.train(8, 12);
    EXPECT_TRUE(run.steps.back().updated);
    EXPECT_FALSE(at::equal(before, run.weights()));
    std::cout << "  scale " << run.bench->trainer.save().getDouble("gradScaler/scale") << std::endl;
}


TEST(TrainerOnDevice, TooLargeAModelSaysWhatWouldFit)
{
    INSITU_NEEDS_DEVICE();
    const TrainCase<float> data(400, 400);
    Course<float> run(with(small, {{"model.hiddenSize", "512"}, {"model.processorSize", "40"}}),
        data);
    try
    {
        run.train(0, 1);
        FAIL() << "there was room";
    }
    catch (const std::exception& error)
    {
        std::cout << "  " << error.what() << std::endl;
        EXPECT_NE(std::string(error.what()).find("precision bfloat16"), std::string::npos);
    }
}


//- Host time of a step that is put into the queue, and time of the step
TEST(TrainerOnDevice, TellsWhatAStepCosts)
{
    INSITU_NEEDS_DEVICE();
    using Clock = std::chrono::steady_clock;
    const auto since = [](Clock::time_point start)
        { return std::chrono::duration<double, std::micro>(Clock::now() - start).count(); };
    for (const auto& [nx, ny] : {std::pair(45, 45), std::pair(320, 200)})
    {
        const TrainCase<float> data(nx, ny);
        const Normaliser scales = data.normaliser();
        const std::vector<Sample> batch{data.sample(0)};
        for (const std::string capture : {"no", "yes"})
        {
            TrainerBench bench(trainingConfig({{"device", "cuda"}, {"precision", "bfloat16"},
                {"capture", capture}}), data.layout());
            std::vector<double> host, whole;
            for (int k = 0; k < 60; ++k)
            {
                const auto start = Clock::now();
                bench.trainer.start(batch, scales);
                const double put = since(start);
                bench.trainer.ended(true);
                if (k >= 10)
                {
                    host.push_back(put);
                    whole.push_back(since(start));
                }
            }
            std::sort(host.begin(), host.end());
            std::sort(whole.begin(), whole.end());

            // One being made ready while the last is computed
            const auto start = Clock::now();
            for (int k = 0; k < 50; ++k)
            {
                bench.trainer.start(batch, scales);
            }
            bench.trainer.ended(true);
            std::cout << "  " << nx*ny << " cells, 15 x 128, bfloat16, capture " << capture
                << ": host " << host[25] << " us, step " << whole[25] << " us (medians of 50), "
                << since(start)/50 << " us in a row of 50" << std::endl;
        }
    }
}

#endif

}
}

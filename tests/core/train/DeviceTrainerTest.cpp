// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/Trainer.hpp"

#include "DeviceBench.hpp"
#include "model/chooseDevice.hpp"
#include "train/losses/Losses.hpp"

#include <gmock/gmock.h>

#include <limits>

// Trainer on a device that is the CPU and does nothing before it must

using namespace inSitu;
using testing::HasSubstr;

namespace
{

using Case = TrainCase<double>;

Sample poisoned(Sample sample)
{
    std::vector<double> target(static_cast<std::size_t>(
        sample.mesh.graph->nCells()*Case::nTargets), std::numeric_limits<double>::quiet_NaN());
    sample.target = slotOf(std::move(target));
    return sample;
}


double distance(TrainerBench& a, TrainerBench& b)
{
    return (a.weights() - b.weights()).norm().item<double>();
}


//- Batch of step k: sizes and meshes vary
std::vector<Sample> batchOf(const Case& data, const Case& other, int k)
{
    std::vector<Sample> batch{data.sample(k), data.sample(3*k + 1)};
    if (k % 4 == 3)
    {
        batch.push_back(other.sample(k));
    }
    return batch;
}

}


TEST(DeviceTrainer, LearnsAsTheHost)
{
    const Case data, other(4, 7);
    const Normaliser scales = data.normaliser();
    TrainerLayout layout = data.layout();
    layout.noise = 0.1;
    layout.inputOfTarget = {1, -1};
    for (const Entries& more : std::vector<Entries>{
        {},
        {{"optimizer.type", "sgd"}, {"optimizer.momentum", "0.5"}, {"loss.type", "l1"}},
        {{"optimizer.gradAccumulationSteps", "3"}, {"optimizer.maxGradNorm", "0.05"},
            {"lrScheduler.type", "step"}, {"lrScheduler.stepSize", "2"},
            {"lrScheduler.gamma", "0.5"}},
        {{"lrScheduler.type", "plateau"}, {"lrScheduler.patience", "0"},
            {"lrScheduler.factor", "0.5"}},
        {{"capture", "no"}, {"optimizer.type", "adamw"}}})
    {
        const Entries entries = with(small, more);
        TrainerBench host(trainingConfig(with(entries, {{"device", "cpu"}})), layout);
        DeviceBench there(entries, layout);
        EXPECT_EQ(host.trainer.device(), "cpu");
        EXPECT_EQ(there.trainer.device(), "cuda:0 (fake)");

        std::vector<Trainer::Step> expected, got;
        const auto take = [&](bool wait)
        {
            for (const Trainer::Step& step : there.trainer.ended(wait))
            {
                got.push_back(step);
            }
        };
        for (int k = 0; k < 17; ++k)
        {
            const std::vector<Sample> batch = batchOf(data, other, k);
            expected.push_back(host.trainer.step(batch, scales));
            there.trainer.start(batch, scales);
            take(false);
        }
        take(true);
        ASSERT_EQ(got.size(), expected.size());
        for (std::size_t k = 0; k < got.size(); ++k)
        {
            EXPECT_NEAR(got[k].loss, expected[k].loss, 1e-11*expected[k].loss) << k;
            EXPECT_NEAR(got[k].gradientNorm, expected[k].gradientNorm,
                1e-9*expected[k].gradientNorm) << k;
            EXPECT_EQ(got[k].learningRate, expected[k].learningRate) << k;
            EXPECT_EQ(got[k].updated, expected[k].updated) << k;
            EXPECT_EQ(got[k].number, expected[k].number) << k;
            EXPECT_TRUE(got[k].finite);
        }
        EXPECT_EQ(there.trainer.nUpdates(), host.trainer.nUpdates());
        EXPECT_LT(distance(host, there), 1e-9);

        const Sample sample = data.sample(77);
        const std::vector<double> one = host.prediction(sample, scales, data.nCells());
        const std::vector<double> two = there.prediction(sample, scales, data.nCells());
        for (std::size_t i = 0; i < one.size(); ++i)
        {
            EXPECT_NEAR(one[i], two[i], 1e-8);
        }
    }
}


//- As in a run: a sample is predicted, the scales follow it, it is learnt
TEST(DeviceTrainer, FollowsScalesThatMoveAsTheHost)
{
    const Case data;
    TrainerLayout layout = data.layout();
    layout.noise = 0.1;
    layout.inputOfTarget = {1, -1};
    const Entries entries = with(small, {{"capture", "yes"}});
    TrainerBench host(trainingConfig(with(entries, {{"device", "cpu"}})), layout);
    DeviceBench there(entries, layout);
    Normaliser scales = data.normaliser();
    for (int k = 0; k < 24; ++k)
    {
        const std::vector<double> one = host.prediction(data.sample(k), scales, data.nCells());
        const std::vector<double> two = there.prediction(data.sample(k), scales, data.nCells());
        EXPECT_LT(relativeDifference(two, one), 1e-10) << k;

        const Normaliser next = data.normaliser(3 + k, 1 + 0.4*std::sin(0.7*k), 0.01*k);
        for (TrainerBench* bench : {&host, static_cast<TrainerBench*>(&there)})
        {
            bench->trainer.followScales(scales.target(), next.target());
            for (int i = 0; i < 2; ++i)
            {
                bench->trainer.start({data.sample(k), data.sample(5*i + 2)}, next);
            }
        }
        scales = next;
    }
    const std::vector<Trainer::Step> expected = host.trainer.ended(true);
    const std::vector<Trainer::Step> got = there.trainer.ended(true);
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t k = 0; k < got.size(); ++k)
    {
        EXPECT_NEAR(got[k].loss, expected[k].loss, 1e-10*expected[k].loss) << k;
    }
    EXPECT_LT(distance(host, there), 1e-9);
}


//- More meshes than recordings and than batches that stay on the device
TEST(DeviceTrainer, StepsBeyondMaxCapturesAreTheSame)
{
    const Case data;
    const Normaliser scales = data.normaliser();
    std::vector<Case> others;
    for (int i = 0; i < 11; ++i)
    {
        others.emplace_back(3 + i, 4);
    }
    std::vector<std::string> notes;
    TrainerLayout layout = data.layout();
    layout.note = [&](const std::string& text) { notes.push_back(text); };
    DeviceBench eager(with(small, {{"capture", "no"}}), data.layout());
    DeviceBench few(with(small, {{"maxCaptures", "2"}}), layout);
    const auto train = [&](const Case& on, int k)
    {
        for (DeviceBench* bench : {&eager, &few})
        {
            bench->trainer.start({on.sample(k)}, scales);
        }
    };
    for (int k = 0; k < 44; ++k)
    {
        train(k % 2 ? others[k/2 % 11] : data, k);
    }
    EXPECT_EQ(few.device->queue->nRecords, 1);
    EXPECT_TRUE(notes.empty());
    for (int k = 0; k < 15; ++k)
    {
        train(others[k/5], k);
    }
    EXPECT_EQ(few.device->queue->nRecords, 2);
    ASSERT_EQ(notes.size(), 1u);
    EXPECT_THAT(notes.front(), HasSubstr("maxCaptures 2"));
    EXPECT_EQ(firstDifference(eager.trainer.save(), few.trainer.save()), "");
}


TEST(DeviceTrainer, CapturedStepsAreTheEagerOnesToTheBit)
{
    const Case data, other(4, 7);
    const Normaliser scales = data.normaliser();
    DeviceBench eager(with(small, {{"capture", "no"}}), data.layout());
    DeviceBench captured(with(small, {{"capture", "yes"}}), data.layout());
    for (int k = 0; k < 48; ++k)
    {
        for (DeviceBench* bench : {&eager, &captured})
        {
            bench->trainer.start(batchOf(data, other, k), scales);
            bench->prediction(data.sample(50 + k), scales, data.nCells());
            if (k == 9)
            {
                bench->trainer.followScales(scales.target(),
                    data.normaliser(3, 2, 0.25).target());
            }
            if (k == 13)
            {
                // Reset in the run: optimiser and its memory are new
                bench->trainer.reconfigure(trainingConfig(with(small,
                    {{"device", "cuda"}, {"optimizer.learningRate", "0.015625"}})));
            }
            if (k == 30)
            {
                ++bench->device->queue->stamp;
            }
        }
    }
    EXPECT_EQ(distance(eager, captured), 0);
    EXPECT_EQ(firstDifference(eager.trainer.save(), captured.trainer.save()), "");
    EXPECT_EQ(eager.device->queue->nRecords, 0);
    EXPECT_GT(captured.device->queue->nRecords, 5);
}


//- More passes wait than an update takes from now on
TEST(DeviceTrainer, FewerPassesPerUpdateLeaveTheRateInStep)
{
    const Case data;
    const Normaliser scales = data.normaliser();
    const Entries entries = with(small, {{"optimizer.gradAccumulationSteps", "5"},
        {"lrScheduler.type", "step"}, {"lrScheduler.stepSize", "1"}, {"lrScheduler.gamma", "0.5"}});
    const Entries fewer = with(entries, {{"optimizer.gradAccumulationSteps", "2"}});
    TrainerBench here(trainingConfig(entries), data.layout());
    DeviceBench there(entries, data.layout());
    std::vector<double> rates;
    for (int k = 0; k < 11; ++k)
    {
        if (k == 4)
        {
            here.trainer.reconfigure(trainingConfig(fewer));
            there.trainer.reconfigure(trainingConfig(with(fewer, {{"device", "cuda"}})));
        }
        const Trainer::Step expected = here.trainer.step({data.sample(k)}, scales);
        const Trainer::Step got = there.trainer.step({data.sample(k)}, scales);
        EXPECT_EQ(got.learningRate, expected.learningRate) << k;
        EXPECT_EQ(got.updated, expected.updated) << k;
        rates.push_back(got.learningRate/0.0078125);
    }
    EXPECT_EQ(rates, (std::vector<double>{1, 1, 1, 1, 1, 0.5, 0.5, 0.25, 0.25, 0.125, 0.125}));
    EXPECT_LT(distance(here, there), 1e-12);
}


TEST(DeviceTrainer, GoesOnFromTheHostsCheckpointAndBack)
{
    const Case data;
    const Normaliser scales = data.normaliser();
    for (const Entries& more : std::vector<Entries>{
        {{"optimizer.gradAccumulationSteps", "3"}},
        {{"optimizer.type", "sgd"}, {"optimizer.momentum", "0.5"},
            {"optimizer.dampening", "0.25"}}})
    {
        const Entries entries = with(small, more);
        const auto run = [&](TrainerBench& bench, int first, int last)
        {
            for (int k = first; k < last; ++k)
            {
                bench.trainer.start({data.sample(k)}, scales);
                if (k == 3)
                {
                    bench.trainer.keepBest(0.5);
                }
            }
            return bench.trainer.save();
        };
        const auto host = [&] { return std::make_unique<TrainerBench>(
            trainingConfig(with(entries, {{"device", "cpu"}})), data.layout()); };
        const auto there = [&] { return std::make_unique<DeviceBench>(entries, data.layout()); };

        const auto first = host();
        const auto second = there();
        run(*first, 0, 7);
        second->trainer.load(first->trainer.save());
        EXPECT_EQ(firstDifference(first->trainer.save(), second->trainer.save()), "");
        run(*second, 7, 11);

        const auto third = host();
        third->trainer.load(second->trainer.save());
        EXPECT_EQ(firstDifference(third->trainer.save(), second->trainer.save()), "");
        run(*third, 11, 16);

        const auto whole = host();
        run(*whole, 0, 16);
        EXPECT_LT(distance(*whole, *third), 1e-9);
        EXPECT_EQ(whole->trainer.nUpdates(), third->trainer.nUpdates());
        EXPECT_EQ(third->trainer.bestSkill(), 0.5);

        // And on the device alone to the bit
        const auto unbroken = there();
        run(*unbroken, 0, 12);
        const auto before = there();
        run(*before, 0, 5);
        const auto after = there();
        after->trainer.load(before->trainer.save());
        run(*after, 5, 12);
        EXPECT_EQ(firstDifference(unbroken->trainer.save(), after->trainer.save()), "");
    }
}


TEST(DeviceTrainer, LeavesOutWhatIsNotFinite)
{
    const Case data;
    const Normaliser scales = data.normaliser();
    const Entries entries = with(small, {{"optimizer.gradAccumulationSteps", "2"}});
    TrainerBench host(trainingConfig(with(entries, {{"device", "cpu"}})), data.layout());
    DeviceBench there(entries, data.layout());
    for (int k = 0; k < 12; ++k)
    {
        const bool isBad = k == 2 || k == 7 || k == 8;
        const std::vector<Sample> batch{isBad ? poisoned(data.sample(k)) : data.sample(k)};
        const Trainer::Step expected = host.trainer.step(batch, scales);
        const Trainer::Step got = there.trainer.step(batch, scales);
        EXPECT_EQ(got.finite, !isBad) << k;
        EXPECT_EQ(got.updated, expected.updated) << k;
        EXPECT_FALSE(got.overflow);
    }
    EXPECT_EQ(there.trainer.nUpdates(), host.trainer.nUpdates());
    EXPECT_LT(distance(host, there), 1e-10);
}


//- Powers of 2 change no bit of a gradient: scaled, clipped and left out as it should be, the
//  training is the one without a scale
TEST(DeviceTrainer, TheScaleOfFloat16LeavesNoTrace)
{
    const TrainCase<float> data;
    const Normaliser scales = data.normaliser();
    const Entries common = with(small, {{"precision", "float32"},
        {"optimizer.maxGradNorm", "0.03"}});
    DeviceBench plain(common, data.layout());
    DeviceBench scaled(with(common, {{"precision", "float16"}}), data.layout());
    EXPECT_EQ(plain.device->choice.storage, Storage::float32);
    EXPECT_EQ(scaled.device->choice.storage, Storage::float16);
    for (int k = 0; k < 12; ++k)
    {
        Sample sample = data.sample(k);
        const bool isBad = k == 4 || k == 9;
        if (isBad)
        {
            sample.target = slotOf(std::vector<float>(
                static_cast<std::size_t>(data.nCells()*data.nTargets),
                std::numeric_limits<float>::infinity()));
        }
        const Trainer::Step one = plain.trainer.step({sample}, scales);
        const Trainer::Step two = scaled.trainer.step({sample}, scales);
        EXPECT_EQ(one.finite, !isBad);
        EXPECT_TRUE(two.finite);
        EXPECT_EQ(two.overflow, isBad);
        EXPECT_EQ(two.updated, !isBad);
    }
    EXPECT_EQ(distance(plain, scaled), 0);
    const StateTree state = scaled.trainer.save();
    EXPECT_EQ(state.getDouble("gradScaler/scale"), 16384);
    EXPECT_EQ(state.getInt("gradScaler/growthTracker"), 2);

    DeviceBench resumed(with(common, {{"precision", "float16"}}), data.layout());
    resumed.trainer.load(state);
    EXPECT_EQ(firstDifference(resumed.trainer.save(), state), "");
}


TEST(DeviceTrainer, SaysWhyItCannot)
{
    const Case data;
    const auto fault = [&](const Entries& entries, std::shared_ptr<FakeDevice> device)
    {
        TrainerLayout layout = data.layout();
        layout.devices = std::move(device);
        try
        {
            TrainerBench bench(trainingConfig(entries), layout);
            return std::string("none, on ") + bench.trainer.device() + ", "
                + bench.trainer.reasonForDevice();
        }
        catch (const std::exception& error)
        {
            return std::string(error.what());
        }
    };
    const auto without = std::make_shared<FakeDevice>();
    without->nGpus = 0;
    const Entries mlp{{"model.type", "mlp"}};
    EXPECT_THAT(fault(with(mlp, {{"device", "cuda"}}), std::make_shared<FakeDevice>()),
        HasSubstr("runs on the CPU only"));
    EXPECT_EQ(fault(mlp, std::make_shared<FakeDevice>()),
        "none, on cpu, a model of this type runs on the CPU only");
    EXPECT_EQ(fault({}, without), "none, on cpu, no GPU is visible");
    EXPECT_THAT(fault({{"device", "cuda"}}, without), HasSubstr("no GPU is visible"));
    EXPECT_THAT(fault({{"device", "cuda:3"}}, std::make_shared<FakeDevice>()),
        HasSubstr("0 to 0"));
    EXPECT_THAT(fault({{"precision", "bfloat16"}}, without),
        AllOf(HasSubstr("for GPUs"), HasSubstr("float32")));
    EXPECT_EQ(fault({{"precision", "bfloat16"}}, std::make_shared<FakeDevice>()),
        "none, on cuda:0 (fake), ");
}


//- A GPU whose library was not built: there is none beside this program
TEST(DeviceTrainer, WithoutItsLibraryTheCpuTrainsOrTheFaultIsTold)
{
    struct Missing final : FakeDevice
    {
        int nDevices() const override { return DeviceLibrary::open()->nDevices(); }
    };
    const Case data;
    TrainerLayout layout = data.layout();
    layout.devices = std::make_shared<Missing>();
    TrainerBench bench(trainingConfig(small), layout);
    EXPECT_EQ(bench.trainer.device(), "cpu");
    EXPECT_THAT(bench.trainer.reasonForDevice(), AllOf(HasSubstr("libinSituCuda.so"),
        Not(HasSubstr("\n"))));
    EXPECT_TRUE(bench.trainer.step({data.sample(1)}, data.normaliser()).updated);

    const TrainingConfig config = trainingConfig(with(small, {{"device", "cuda"}}));
    EXPECT_THAT([&] { TrainerBench(config, layout); }, testing::ThrowsMessage<Error>(
        AllOf(HasSubstr("libinSituCuda.so"), HasSubstr("Remedy: run Allwmake"),
            HasSubstr("device cpu"))));
}


// What mse and l1 are on a GPU, against the host's
TEST(DeviceTrainer, LossesAreThoseOfTheHost)
{
    const at::Tensor prediction = at::sin(at::arange(2*6*3, at::kDouble)).view({2, 6, 3});
    const at::Tensor target = at::cos(at::arange(2*5*3, at::kDouble)).view({2, 5, 3});
    const at::Tensor weight = at::linspace(0.3, 2.1, 5, at::kDouble);
    ThreadPool pool(1);
    for (const char* type : {"mse", "l1"})
    {
        const auto loss = optionsOf(lossRegistry(), type)->build(pool);
        std::vector<at::Tensor> values, slopes;
        for (const bool onHost : {true, false})
        {
            const at::Tensor leaf = prediction.clone().requires_grad_(true);
            const at::Tensor value = onHost ? (*loss)(leaf, target, weight, 7.5)
                : pointwiseSum(type == std::string("mse")
                    ? [](const at::Tensor& d) { return d.square(); }
                    : [](const at::Tensor& d) { return d.abs(); },
                    leaf, target, weight, 1/(2*3*7.5));
            value.backward();
            values.push_back(value.detach());
            slopes.push_back(leaf.grad());
        }
        EXPECT_NEAR(values[0].item<double>(), values[1].item<double>(), 1e-14);
        EXPECT_LT((slopes[0] - slopes[1]).abs().max().item<double>(), 1e-15);
    }
}


TEST(ChooseDevice, BytesPerNodeAreThoseOfTheReadings)
{
    // 64 000 cells, 5.85 edges per cell, 15 blocks of 128: 44.5 kB with recomputation
    DeviceChoice choice;
    choice.storage = Storage::bfloat16;
    choice.recompute = true;
    const MeshGraphNetSizes sizes;
    EXPECT_NEAR(bytesPerNode(sizes, 5.85, choice), 44.5e3, 5e3);
    choice.recompute = false;
    const double kept = bytesPerNode(sizes, 5.85, choice);
    EXPECT_GT(kept, 100e3);
    choice.storage = Storage::float32;
    EXPECT_EQ(bytesPerNode(sizes, 5.85, choice), 2*kept);
}

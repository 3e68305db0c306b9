// SPDX-License-Identifier: GPL-3.0-or-later
#include "TrainerFixture.hpp"

#include "infer/Inspection.hpp"
#include "infer/Surrogate.hpp"
#include "io/Hdf5File.hpp"

namespace inSitu
{
namespace
{

//- Files that go from one run to another
class ModelExchangeTest : public InSituTrainerTest
{
protected:

    const std::string stable = top + "/stable/";

    //- At construction, before a start with these checkpoints
    std::string faultWith(const std::string& text,
        const std::vector<CheckpointPlace>& places = {}, const std::string& folder = "none",
        double latest = 0)
    {
        try
        {
            construct(text).requireInitialWeights(places, folder, latest);
            return "none";
        }
        catch (const ConfigError& fault)
        {
            return fault.what();
        }
    }

    InSituTrainer construct(const std::string& text)
    {
        return InSituTrainer(block(text), "surrogate", top, {}, std::make_shared<SerialComm>(),
            std::make_shared<CollectingLog>());
    }

    //- Arrays of the network in the checkpoint of a step
    StateTree weights(int step) const
    {
        return readHdf5(folder(step) + "/state.h5").subTree("loop/trainer/model");
    }

    static std::vector<float> all(const StateTree& tree)
    {
        std::vector<float> values;
        for (const auto& [name, array] : tree.arrays())
        {
            const auto* const first = static_cast<const float*>(array.data.get());
            values.insert(values.end(), first, first + array.count());
        }
        return values;
    }
};


TEST_F(ModelExchangeTest, StartsFromTheWeightsOfAnotherRun)
{
    WaveCase host;
    auto first = make(base + "export: [mdlus]\n" + training, host, "first");
    run(*first, host, 1, 30);
    write(*first, 30);
    const std::vector<float> learnt = all(weights(30));

    for (const std::string& file : {std::string("stable/model.pt"),
        std::string("stable/model.mdlus"), std::string("time30")})
    {
        auto second = make(base + "initialWeights: " + file + '\n' + training, host, "second");
        second->resume({});
        run(*second, host, 1, 2);
        write(*second, 2);
        EXPECT_EQ(all(weights(2)), learnt) << file;
        EXPECT_TRUE(CollectingLog::contains(log->infos, "tensors match"));
        EXPECT_FALSE(CollectingLog::contains(log->infos, "missing"));
        run(*second, host, 3, 12);
        write(*second, 12);
        EXPECT_NE(all(weights(12)), learnt);
    }
}


TEST_F(ModelExchangeTest, AResumedRunKeepsItsOwnWeights)
{
    WaveCase host;
    auto first = make(base + training, host, "first");
    run(*first, host, 1, 30);
    write(*first, 10);
    run(*first, host, 31, 60);
    write(*first, 60);

    auto plain = make(base + training, host, "plain", time(60));
    plain->resume({{time(60), folder(60)}});
    run(*plain, host, 61, 80);
    write(*plain, 80);
    const std::vector<float> expected = all(weights(80));

    auto resumed = make(base + "initialWeights: time10\n" + training, host, "resumed", time(60));
    resumed->resume({{time(60), folder(60)}});
    EXPECT_TRUE(CollectingLog::contains(log->infos, "has no effect: the training resumes"));
    run(*resumed, host, 61, 80);
    write(*resumed, 80);
    EXPECT_EQ(all(weights(80)), expected);
}


TEST_F(ModelExchangeTest, NeedsNoInitialWeightsToResume)
{
    WaveCase host;
    auto first = make(base + training, host, "first");
    run(*first, host, 1, 60);
    write(*first, 60);
    const CheckpointPlace place{time(60), folder(60)}, other{time(60), folder(59)};
    const std::string text = base + "initialWeights: gone.pt\n" + training;

    EXPECT_EQ(faultWith(text, {place}, "none", time(60)), "none");
    // The shelf has it under the name of its step
    EXPECT_EQ(faultWith(text, {other}, top + "/stable", 60), "none");
    for (const std::string& fault : {faultWith(text, {other}, "none", time(60)),
        faultWith(text, {place}, top + "/stable", time(59)),
        faultWith(text + "\nresume: fresh", {place}, top + "/stable", time(60))})
    {
        EXPECT_NE(fault.find("surrogate.initialWeights: "), std::string::npos) << fault;
    }

    auto resumed = make(text, host, "resumed", time(60));
    resumed->resume({place});
    EXPECT_TRUE(CollectingLog::contains(log->infos,
        "initialWeights \"gone.pt\" has no effect: the training resumes"));
    run(*resumed, host, 61, 62);

    auto fresh = make(text, host, "fresh");
    fresh->resume({other});
    EXPECT_THROW(fresh->execute(now(1), host.fields(time(1))), ConfigError);
}


TEST_F(ModelExchangeTest, ChecksTheFilesEntriesAtConstruction)
{
    EXPECT_EQ(faultWith(base + training), "none");
    const std::string absent = faultWith(base + "initialWeights: nowhere.pt\n" + training);
    EXPECT_NE(absent.find("surrogate.initialWeights: "), std::string::npos) << absent;
    EXPECT_NE(absent.find("nowhere.pt' is not there"), std::string::npos) << absent;

    EXPECT_EQ(faultWith(base + "export: [mdlus]\n" + training), "none");
    EXPECT_NE(faultWith(base + "export: [onnx]\n" + training).find("'onnx' is not known"),
        std::string::npos);
    EXPECT_NE(faultWith(base + "export: [mdlus]\ntraining: {model: {type: mlp}}")
        .find("leave export out"), std::string::npos);
    EXPECT_NE(faultWith(base + "export: [mdlus]\ntraining: {model: {activation: leaky_relu}}")
        .find("leaky_relu"), std::string::npos);

    WaveCase host;
    auto first = make(base + training, host, "first");
    run(*first, host, 1, 10);
    write(*first, 10);
    auto other = make(base + "initialWeights: time10\ntraining: {model: {type: mlp}}", host, "other");
    other->resume({});
    EXPECT_THROW(other->execute(now(1), host.fields(time(1))), Error);
}


TEST_F(ModelExchangeTest, ExportsWhatPredictsAsTheArtifact)
{
    WaveCase host;
    auto trainer = make(base + "export: [mdlus]\n" + training, host, "first");
    run(*trainer, host, 1, 30);
    write(*trainer, 30);
    EXPECT_TRUE(log->warnings.empty());
    EXPECT_TRUE(fs::exists(stable + "model.mdlus"));

    const Inspection artifact = inspect(stable + "model.pt");
    const Inspection mdlus = inspect(stable + "model.mdlus");
    EXPECT_TRUE(artifact.good()) << artifact.text(false);
    EXPECT_TRUE(mdlus.good()) << mdlus.text(false);
    EXPECT_EQ(mdlus.card->json(), artifact.card->json());
    ASSERT_EQ(mdlus.scales.size(), 6u);
    for (std::size_t i = 0; i < 6; ++i)
    {
        EXPECT_EQ(mdlus.scales[i].column, artifact.scales[i].column);
        EXPECT_EQ(mdlus.scales[i].shift, artifact.scales[i].shift);
        EXPECT_EQ(mdlus.scales[i].scale, artifact.scales[i].scale);
    }

    auto plain = make(base + training, host, "second");
    fs::remove(stable + "model.mdlus");
    run(*plain, host, 1, 30);
    write(*plain, 30);
    EXPECT_FALSE(fs::exists(stable + "model.mdlus"));
}


TEST_F(ModelExchangeTest, InspectsEveryFileOfARun)
{
    WaveCase host;
    auto trainer = make(base + training, host, "leg");
    run(*trainer, host, 1, 30);
    write(*trainer, 30);

    const Inspection artifact = inspect(stable + "model.pt");
    EXPECT_TRUE(artifact.good());
    EXPECT_EQ(artifact.kind, "an artifact of inSituFoam");
    ASSERT_TRUE(artifact.card);
    EXPECT_EQ(artifact.card->object, "surrogate");
    EXPECT_EQ(artifact.scales[2].column, "p");
    EXPECT_NEAR(artifact.scales[2].shift, 1e5, 2);
    EXPECT_NE(artifact.text(false).find("training record: 28 samples"), std::string::npos)
        << artifact.text(false);
    EXPECT_NE(artifact.text(true).find("node_decoder__model__0__weight [12, 12] float32"),
        std::string::npos) << artifact.text(true);
    EXPECT_NE(artifact.json().find("\"good\":true"), std::string::npos);

    const Inspection checkpoint = inspect(folder(30));
    EXPECT_TRUE(checkpoint.good()) << checkpoint.text(true);
    EXPECT_NE(checkpoint.text(false).find("training record: 28 samples, 25 steps, 8 updates"),
        std::string::npos) << checkpoint.text(false);
    EXPECT_EQ(checkpoint.nNumbers() > 1000, true);
    EXPECT_EQ(checkpoint.scales[2].column, "p");
    EXPECT_NEAR(checkpoint.scales[2].shift, artifact.scales[2].shift, 1e-9);
    EXPECT_NEAR(checkpoint.scales[0].scale, artifact.scales[0].scale, 1e-9);

    for (const std::string& file : {stable + "graph.h5", folder(30) + "/replay0.h5",
        folder(30) + "/rank0.h5", folder(30) + "/state.h5"})
    {
        EXPECT_TRUE(inspect(file).good()) << inspect(file).text(false);
    }
    EXPECT_NE(inspect(stable + "graph.h5").text(false).find("cells: 30"), std::string::npos);
    EXPECT_NE(inspect(folder(30) + "/replay0.h5").text(false).find("samples: 28"),
        std::string::npos);
}


TEST_F(ModelExchangeTest, InspectionNamesTheFault)
{
    WaveCase host;
    auto trainer = make(base + training, host, "leg");
    run(*trainer, host, 1, 30);
    write(*trainer, 30);
    const auto faultOf = [](const std::string& path)
    {
        const Inspection inspection = inspect(path);
        EXPECT_FALSE(inspection.good()) << path;
        return inspection.checks.empty() ? "" : inspection.checks.back().fault;
    };

    const std::string good = contents(stable + "model.pt");
    std::string damaged = good;
    for (std::size_t i = 0; i < 100; ++i)   // longer than what is between two tensors
    {
        damaged[good.size()/2 + i] = static_cast<char>(damaged[good.size()/2 + i] ^ 1);
    }
    std::ofstream(stable + "model.pt", std::ios::binary) << damaged;
    EXPECT_NE(faultOf(stable + "model.pt").find("damaged"), std::string::npos)
        << faultOf(stable + "model.pt");
    std::ofstream(stable + "model.pt", std::ios::binary) << good.substr(0, good.size()/2);
    faultOf(stable + "model.pt");

    const std::string state = contents(folder(30) + "/state.h5");
    damaged = state;
    damaged[state.size()/3] = static_cast<char>(damaged[state.size()/3] ^ 1);
    std::ofstream(folder(30) + "/state.h5", std::ios::binary) << damaged;
    EXPECT_NE(faultOf(folder(30)).find("state.h5 is damaged"), std::string::npos);

    StateTree graph = readHdf5(stable + "graph.h5");
    auto index = graph.get<std::int64_t>("edge_index");
    const std::int64_t half = static_cast<std::int64_t>(index.size())/2;
    index[4] = 4000;
    graph.put("edge_index", Span<const std::int64_t>(index), {{2, half}});
    writeHdf5(stable + "graph.h5", graph);
    EXPECT_NE(inspect(stable + "graph.h5").text(false).find("nodes that are not there"),
        std::string::npos);
    EXPECT_FALSE(inspect(stable + "graph.h5").good());

    EXPECT_NE(faultOf(top + "/absent").find("is not there"), std::string::npos);
    EXPECT_NE(faultOf(top).find("no checkpoint"), std::string::npos);
    StateTree other;
    other.putInt("a", 3);
    writeHdf5(top + "/other.h5", other);
    EXPECT_NE(faultOf(top + "/other.h5").find("neither graph.h5 nor"), std::string::npos);
}

}
}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "SurrogateCase.hpp"
#include "base/Error.hpp"
#include "io/Archive.hpp"
#include "io/Disk.hpp"

#include <gmock/gmock.h>
#include <torch/script.h>

#include <cstring>
#include <filesystem>

namespace inSitu
{
namespace
{

using testing::HasSubstr;


template<class T>
void writeRaw(const TemporaryFolder& folder, const std::string& name, const std::vector<T>& values)
{
    folder.write(name, std::string(reinterpret_cast<const char*>(values.data()),
        values.size()*sizeof(T)));
}


std::vector<double> readRaw(const TemporaryFolder& folder, const std::string& name,
    std::size_t count)
{
    const std::string bytes = folder.read(name);
    std::vector<double> values(bytes.size()/sizeof(double));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    values.resize(count);
    return values;
}


class LoadSurrogate : public testing::Test
{
protected:

    //- The card of a network that is not ours
    ModelCard foreignCard() const
    {
        ModelCard card = my.card;
        card.configuration = "{}";
        return card;
    }

    //- A .mdlus without our members, its card beside it
    std::string writeForeign(const ModelCard& card)
    {
        writeMdlus(folder / "foreign.mdlus", *my.network);
        folder.write("foreign.mdlus.card.json", card.json());
        return folder / "foreign.mdlus";
    }

    const TemporaryFolder folder;
    SurrogateCase my;
};


TEST_F(LoadSurrogate, OursFromMdlusIsOursFromTheArtifactBitForBit)
{
    for (const Precision precision : {Precision::float32, Precision::float64})
    {
        SurrogateCase other(precision);
        other.write(folder);
        // Names say nothing
        std::filesystem::rename(folder / "model.pt", folder / "a.mdlus");
        std::filesystem::rename(folder / "model.mdlus", folder / "b");
        const auto artifact = other.load(folder / "a.mdlus");
        const auto mdlus = other.load(folder / "b");

        EXPECT_EQ(other.predict(*mdlus), other.predict(*artifact));
        EXPECT_EQ(mdlus->precision(), precision);
        EXPECT_EQ(mdlus->nParameters(), artifact->nParameters());
        EXPECT_EQ(mdlus->card().json(), artifact->card().json());
    }
}


TEST_F(LoadSurrogate, TakesScalesOfAForeignMdlusFromItsCard)
{
    my.write(folder);
    const std::vector<double> expected = my.predict(*my.load(folder / "model.mdlus"));

    ModelCard card = foreignCard();
    for (std::size_t c = 0; c < 3; ++c)
    {
        card.inputShift.push_back(my.content.inputReference[c] + my.content.input.shift[c]);
        card.inputScale.push_back(my.content.input.scale[c]);
    }
    for (std::size_t c = 0; c < 2; ++c)
    {
        card.targetShift.push_back(my.content.targetReference[c] + my.content.target.shift[c]);
        card.targetScale.push_back(my.content.target.scale[c]);
    }
    card.edgeLength = my.content.edgeScales[0];
    card.cellVolume = my.content.staticScales[4];
    const auto scaled = my.load(writeForeign(card));
    EXPECT_LE(my.errorOf(my.predict(*scaled), expected), 1e-6);
    EXPECT_EQ(scaled->inputReference(), card.inputShift);

    // Without any, the network sees the values themselves
    const auto plain = my.load(writeForeign(foreignCard()));
    EXPECT_EQ(plain->inputReference(), (std::vector<double>{0, 0, 0}));
    card.inputShift.clear();
    card.inputScale.clear();
    card.targetShift.clear();
    card.targetScale.clear();
    card.edgeLength = 1;
    card.cellVolume = 1;
    EXPECT_EQ(my.predict(*my.load(writeForeign(card))), my.predict(*plain));
    EXPECT_GT(my.errorOf(my.predict(*plain), expected), 1e-2);

    card.targetScale = {1, 3};
    const std::vector<double> tripled = my.predict(*my.load(writeForeign(card)));
    const std::vector<double> once = my.predict(*plain);
    EXPECT_DOUBLE_EQ(tripled[6], once[6]);
    EXPECT_DOUBLE_EQ(tripled[7], 3*once[7]);
}


TEST_F(LoadSurrogate, SaysHowACardContradictsAMdlus)
{
    ModelCard card = foreignCard();
    card.edgeColumns.pop_back();
    card.targets.pop_back();
    const std::string widths = my.faultOf(writeForeign(card));
    EXPECT_THAT(widths, HasSubstr("edgeColumns: the network has 3, the card 2"));
    EXPECT_THAT(widths, HasSubstr("columns of targets: the network has 2, the card 1"));

    card = foreignCard();
    card.arguments = {"nodes"};
    EXPECT_THAT(my.faultOf(writeForeign(card)), HasSubstr("its card has arguments"));
    card = foreignCard();
    card.inputScale = {1, 2};
    EXPECT_THAT(my.faultOf(writeForeign(card)), HasSubstr("2 numbers in inputScale for 3 columns"));
    card.inputScale = {1, 2, 0};
    EXPECT_THAT(my.faultOf(writeForeign(card)), HasSubstr("inputScale; a scale is above 0"));

    std::filesystem::remove(folder / "foreign.mdlus.card.json");
    EXPECT_THAT(my.faultOf(folder / "foreign.mdlus"), HasSubstr("has no card, neither inside nor"));
}


TEST_F(LoadSurrogate, SaysWhatItCannotRun)
{
    EXPECT_THAT(my.faultOf(folder / "absent"), HasSubstr("is not there"));
    EXPECT_THAT(my.faultOf(folder / ""), HasSubstr("no file"));
    EXPECT_THAT(my.faultOf(folder.write("text.pt", "no archive")),
        HasSubstr("neither a zip nor a tar"));
    EXPECT_THAT(my.faultOf(INSITU_TOP "/tests/support/physicsNemo/types.pt"),
        HasSubstr("initialWeights"));
    EXPECT_THAT(my.faultOf(folder.write("plain.pt2", zipArchive({{"m/models/model.json", "{}"},
        {"m/archive_format", "pt2"}}))), HasSubstr("aoti_compile_and_package"));

    const std::string path = folder / "net.pt2";
    const auto fault = [&](const std::string& bytes)
    {
        folder.write("net.pt2", bytes);
        return my.faultOf(path);
    };
    const std::string cpu = "x86_64";
    EXPECT_THAT(fault(packageFor("cpu", cpu, "")), HasSubstr("has no card"));
    folder.write("net.pt2.card.json", foreignCard().json());
    EXPECT_THAT(fault(packageFor("cuda", cpu, "")), HasSubstr("the device \"cuda\""));
    EXPECT_THAT(fault(packageFor("cpu", cpu, "")), HasSubstr("is no library"));
    EXPECT_THAT(fault(packageFor("cpu", "riscv64", "")), HasSubstr("a machine \"riscv64\""));
    EXPECT_THAT(fault(zipArchive({{"net/data/aotinductor/model/a.so", "x"}})),
        HasSubstr("does not say which machine"));
    EXPECT_THAT(fault(zipArchive({{"net/data/aotinductor/a/m.so", "x"},
        {"net/data/aotinductor/b/m.so", "x"}})), HasSubstr("holds 2 networks"));

    ModelCard scaled = foreignCard();
    scaled.edgeLength = 0.5;
    folder.write("net.pt2.card.json", scaled.json());
    EXPECT_THAT(fault(packageFor("cpu", cpu, "")), HasSubstr("build them into the network"));
}


//- One network as artifact, as .mdlus and as a compiled package
TEST_F(LoadSurrogate, PredictsAsStockPythonDoes)
{
    if (pythonWithTorch().empty())
    {
        GTEST_SKIP() << "INSITU_PYTHON names no interpreter with torch";
    }
    my.write(folder);
    const MeshGraph& graph = *my.data.mesh.graph;
    const auto& fixed = *my.data.mesh.staticFeatures;
    const at::Tensor index = edgeIndexOf(graph);
    writeRaw(folder, "nodes.bin", my.nodes);
    writeRaw(folder, "static.bin", std::vector<double>(fixed.begin(), fixed.end()));
    writeRaw(folder, "edges.bin", edgeFeatures(graph, *my.data.mesh.geometry));
    writeRaw(folder, "index.bin", std::vector<std::int64_t>(index.data_ptr<std::int64_t>(),
        index.data_ptr<std::int64_t>() + index.numel()));
    const std::string rows = std::to_string(graph.nNodes());
    const std::string edges = std::to_string(graph.nEdges());
    folder.write("shapes.txt", "nodes " + rows + " 3\nstatic " + rows + " 5\nedges " + edges
        + " 3\nindex 2 " + edges + '\n');

    const std::string command = pythonWithTorch() + " -B \"" INSITU_TOP
        "/tests/support/samePredictions.py\" \"" + folder / "" + "\" > \"" + folder / "log"
        + "\" 2>&1";
    const int status = std::system(command.c_str());
    ASSERT_EQ(status, 0) << folder.read("log");

    const std::size_t count = static_cast<std::size_t>(2*my.data.nCells());
    std::vector<std::pair<std::string, std::string>> files
        {{"model.pt", "artifact.bin"}, {"model.mdlus", "mdlus.bin"}};
    if (std::filesystem::exists(folder / "net.pt2"))
    {
        files.emplace_back("net.pt2", "package.bin");
        ModelCard card = foreignCard();
        card.arguments = {"nodes", "static", "edge_index", "edges"};
        card.precision = "float64";
        folder.write("net.pt2.card.json", card.json());
    }
    for (const auto& [model, predicted] : files)
    {
        const auto surrogate = my.load(folder / model);
        const std::vector<double> expected = readRaw(folder, predicted, count);
        const std::vector<double> found = my.predict(*surrogate);
        const double error = my.errorOf(found, expected);
        EXPECT_LE(error, 1e-6) << model;
        EXPECT_GT(my.errorOf(expected, std::vector<double>(count, 6)), 0.1);
        EXPECT_EQ(surrogate->nParameters(), model == "net.pt2" ? 0 : my.network->nParameters());
        std::cout << model << ": " << error << '\n';
    }
    if (files.size() < 3)
    {
        GTEST_SKIP() << "no package: " << folder.read("log");
    }

    // It would read beyond what it is given
    ModelCard narrow = foreignCard();
    narrow.arguments = {"nodes", "static", "edge_index", "edges"};
    narrow.precision = "float64";
    narrow.inputs.pop_back();
    narrow.features = {"deltaT", "deltaT"};
    folder.write("net.pt2.card.json", narrow.json());
    const auto surrogate = my.load(folder / "net.pt2");
    Sample sample = my.data.sample(8);
    sample.features = {0.1, 0.2};
    sample.input = slotOf(std::vector<double>(2*my.data.nNodes()));
    std::vector<double> prediction(count);
    EXPECT_THROW(surrogate->predict(sample, Span<double>(prediction)), Error);

    narrow.arguments = {"nodes"};
    folder.write("net.pt2.card.json", narrow.json());
    EXPECT_THAT(my.faultOf(folder / "net.pt2"),
        HasSubstr("takes 4 tensors, its card names 1 arguments"));
}

}
}

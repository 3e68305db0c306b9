// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "TemporaryFolder.hpp"
#include "TrainCase.hpp"
#include "infer/Surrogate.hpp"
#include "io/Archive.hpp"
#include "model/MdlusFile.hpp"
#include "model/TorchScriptModel.hpp"

#include <cstdlib>

namespace inSitu
{

//- A MeshGraphNet with weights of its own for 3 input, 5 static and 3 edge columns, and what belongs
//  to it, as model.pt and model.mdlus. The sample is one that a case would hand in.
struct SurrogateCase
{
    explicit SurrogateCase(Precision precision = Precision::float32)
    :
        network(options().build({8, 3, 2}, precision, 11, pool))
    {
        const Normaliser scales = data.normaliser(3, 2, 0.3, false);
        content.nInputColumns = 3;
        content.input = scales.input();
        content.target = scales.target();
        content.inputReference = {12, -7, 1e3};
        content.targetReference = {5, 1e3};
        content.staticScales = staticScales(data.staticColumns, data.meshScales());
        content.edgeScales = edgeScales(*data.mesh.geometry,
            meanEdgeLength(*data.mesh.graph, *data.mesh.geometry));

        card.inputs = {field("U", {"Ux", "Uy"}), field("p", {"p"})};
        card.targets = {field("nut", {"nut"}), field("T", {"T"})};
        card.increment = false;
        card.staticColumns = data.staticColumns;
        card.edgeColumns = {"dx", "dy", "length"};
        card.precision = precision == Precision::float64 ? "float64" : "float32";
        card.configuration = R"({"training":{"model":{"type":"meshGraphNet","processorSize":2,)"
            R"("hiddenSize":12,"activation":"silu"}}})";
        content.card = card.json();

        const Sample sample = data.sample(8);
        for (std::int64_t i = 0; i < 3*data.nNodes(); ++i)
        {
            nodes.push_back(static_cast<double>(static_cast<float*>(sample.input.get())[i])
                + content.inputReference[i % 3]);
        }
    }

    static MeshGraphNetOptions options()
    {
        MeshGraphNetOptions options;
        options.processorSize = 2;
        options.hiddenSize = 12;
        options.activation = "silu";
        return options;
    }

    static FieldSpec field(const std::string& name, const std::vector<std::string>& columns)
    {
        FieldSpec spec;
        spec.name = name;
        spec.columnNames = columns;
        return spec;
    }

    void write(const TemporaryFolder& folder) const
    {
        writeArtifact(folder / "model.pt", *network, content);
        writeMdlus(folder / "model.mdlus", *network, &content);
    }

    std::unique_ptr<Surrogate> load(const std::string& path)
    {
        return loadSurrogate(path, pool, [](const std::string&, const std::string&, double) {});
    }

    //- The first line of what loading says; "none": nothing
    std::string faultOf(const std::string& path)
    {
        try
        {
            load(path);
            return "none";
        }
        catch (const Error& fault)
        {
            return fault.what();
        }
    }

    //- As a case does it: references off in double, then into the surrogate's precision
    std::vector<double> predict(Surrogate& surrogate) const
    {
        return surrogate.precision() == Precision::float64
            ? predictWith<double>(surrogate) : predictWith<float>(surrogate);
    }

    //- Largest difference relative to the largest deviation from the references of the targets
    double errorOf(std::vector<double> values, std::vector<double> expected) const
    {
        for (std::size_t i = 0; i < values.size(); ++i)
        {
            values[i] -= content.targetReference[i % 2];
            expected.at(i) -= content.targetReference[i % 2];
        }
        return relativeDifference(values, expected);
    }

    ThreadPool pool{2};
    TrainCase<float> data;
    std::unique_ptr<Model> network;
    ArtifactContent content;
    ModelCard card;
    std::vector<double> nodes;          //!< raw values of the three input columns

private:

    template<class Value>
    std::vector<double> predictWith(Surrogate& surrogate) const
    {
        std::vector<Value> input;
        for (std::size_t i = 0; i < nodes.size(); ++i)
        {
            input.push_back(static_cast<Value>(nodes[i] - surrogate.inputReference().at(i % 3)));
        }
        Sample sample = data.sample(8);
        sample.input = slotOf(std::move(input));
        std::vector<double> prediction(static_cast<std::size_t>(2*data.nCells()));
        surrogate.predict(sample, Span<double>(prediction));
        return prediction;
    }
};


//- An interpreter with torch; empty: none is known
inline std::string pythonWithTorch()
{
    if (const char* const named = std::getenv("INSITU_PYTHON"))
    {
        return named;
    }
#ifdef INSITU_PYTHON
    return INSITU_PYTHON;
#else
    return {};
#endif
}


//- A package as far as its archive goes; no machine code is in it
inline std::string packageFor(const std::string& device, const std::string& machine,
    const std::string& instructions, const std::string& network = "model")
{
    const std::string folder = "net/data/aotinductor/" + network + '/';
    return zipArchive({{"net/archive_format", "pt2"},
        {folder + "c1.wrapper_metadata.json", "{\"AOTI_DEVICE_KEY\": \"" + device
            + "\", \"AOTI_PLATFORM\": \"linux\", \"AOTI_MACHINE\": \"" + machine
            + "\", \"AOTI_CPU_ISA\": \"" + instructions + "\"}"},
        {folder + "c1.wrapper.so", "no library"}});
}

}

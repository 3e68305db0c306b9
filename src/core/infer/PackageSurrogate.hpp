// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "infer/RawSurrogate.hpp"
#include "io/ModelFile.hpp"

namespace torch::inductor { class AOTIModelPackageLoader; }

namespace inSitu
{

//- What a package of AOTInductor says of itself
struct PackageTraits
{
    std::string model;              //!< name of the network in it, "model" unless another was given
    std::string device;             //!< "cpu", "cuda"; empty: not stated
    std::string platform;           //!< "linux"
    std::string machine;            //!< "x86_64"
    std::string instructions;       //!< "AVX512 AVX512_VNNI"
};

//- From the members of the archive; nothing of it is run. Throws Error: more than one network in
//  it, no such entries, or damaged ones.
PackageTraits packageTraits(const ModelFile& file);

//- Throws Error, naming path and what is missing, unless this machine can run it on its CPU
void requireRunnable(const PackageTraits& traits, const std::string& path);


//- A network on raw values that torch._inductor.aoti_compile_and_package compiled for the CPU of
//  this machine
class PackageSurrogate final : public RawSurrogate
{
public:

    //- Throws Error naming the file: for another machine, of another version of PyTorch, another
    //  number of inputs than the card's arguments, weights that are not finite
    PackageSurrogate(const ModelCard& card, const ModelFile& file, const CountBuild& count);
    ~PackageSurrogate() override;

    //- Not known: the compiler folds some into others
    std::int64_t nParameters() const override { return 0; }

protected:

    at::Tensor run(std::vector<at::Tensor> arguments) override;

private:

    void requireFiniteWeights() const;

    std::unique_ptr<torch::inductor::AOTIModelPackageLoader> loader_;
};

}

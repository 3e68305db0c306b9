// SPDX-License-Identifier: GPL-3.0-or-later
#include "infer/PackageSurrogate.hpp"

#include "base/Error.hpp"
#include "config/JsonReader.hpp"
#include "io/Archive.hpp"
#include "io/Pickle.hpp"

#include <ATen/ATen.h>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>
#include <torch/version.h>

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <set>
#include <sstream>
#include <sys/utsname.h>

namespace inSitu
{
namespace
{

const std::string networks = "data/aotinductor/";


std::string textOf(const Node& node, const std::string& key)
{
    const Node* const entry = node.find(key);
    return entry && entry->kind == Node::Kind::scalar ? entry->text : std::string();
}


//- Instructions that code was compiled for, in the words of PyTorch; those that it does not
//  name beyond them (VNNI, AMX) come with them or not at all
bool hasInstructions(const std::string& word)
{
#ifdef __x86_64__
    __builtin_cpu_init();
    if (word == "AVX512")
    {
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")
            && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
    }
    if (word == "AVX512_VNNI")
    {
        return __builtin_cpu_supports("avx512vnni");
    }
    if (word == "AVX2")
    {
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    }
#endif
    (void)word;
    return true;
}


//- A package needs the library libtorch by name. It lies beside ours but is not ours to link, since
//  it brings CUDA's along; loaded once, it is found.
void provideLibTorch(const std::string& path)
{
    Dl_info place;
    if (dladdr(reinterpret_cast<const void*>(&at::get_num_threads), &place) == 0)
    {
        throw Error("model \"" + path + "\" cannot be loaded: it is not known where LibTorch lies");
    }
    const auto library = std::filesystem::path(place.dli_fname).parent_path()/"libtorch.so";
    if (!dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL))
    {
        const char* const fault = dlerror();
        throw Error("model \"" + path + "\" needs " + library.string()
            + ", which cannot be loaded: " + (fault ? fault : "no reason given"));
    }
}


//- Leaves of a pytree as torch writes it: [1, {"type": …, "children_spec": [ … ]}]
std::size_t countLeaves(const Node& spec)
{
    const Node* const children = spec.find("children_spec");
    if (!children || children->items.empty())
    {
        return textOf(spec, "type").empty() ? 1 : 0;
    }
    std::size_t count = 0;
    for (const Node& child : children->items)
    {
        count += countLeaves(child);
    }
    return count;
}


//- LibTorch unpacks a package before it finds that out, and leaves what it has unpacked
void requireLibrary(const ModelFile& file)
{
    const std::string ending = ".so";
    bool found = false;
    for (const auto& [member, content] : readArchive(file.bytes, file.path))
    {
        if (member.size() > ending.size()
         && member.compare(member.size() - ending.size(), ending.size(), ending) == 0)
        {
            found = true;
            if (content.compare(0, 4, "\x7F" "ELF") != 0)
            {
                throw Error("model \"" + file.path + "\": " + shown(member) + " is no library");
            }
        }
    }
    if (!found)
    {
        throw Error("model \"" + file.path + "\" holds no library: compile it with the default"
            " aot_inductor.package_cpp_only");
    }
}


std::string firstLine(const std::exception& fault)
{
    const auto* const torchFault = dynamic_cast<const c10::Error*>(&fault);
    const std::string text = torchFault ? torchFault->what_without_backtrace() : fault.what();
    return text.substr(0, text.find('\n'));
}

}


PackageTraits packageTraits(const ModelFile& file)
{
    const ArchiveMembers members = readArchive(file.bytes, file.path);
    PackageTraits traits;
    std::set<std::string> names;
    bool described = false;
    for (const auto& [member, content] : members)
    {
        const std::size_t slash = member.find('/');
        if (slash == std::string::npos || member.compare(slash + 1, networks.size(), networks) != 0)
        {
            continue;
        }
        const std::size_t begin = slash + 1 + networks.size();
        const std::size_t end = member.find('/', begin);
        names.insert(member.substr(begin, end == std::string::npos ? end : end - begin));

        const std::string ending = "_metadata.json";
        if (member.size() > ending.size()
         && member.compare(member.size() - ending.size(), ending.size(), ending) == 0)
        {
            const Node node = parseJson(content, file.path + ':' + member);
            traits.device = textOf(node, "AOTI_DEVICE_KEY");
            traits.platform = textOf(node, "AOTI_PLATFORM");
            traits.machine = textOf(node, "AOTI_MACHINE");
            traits.instructions = textOf(node, "AOTI_CPU_ISA");
            described = true;
        }
    }
    if (names.size() != 1)
    {
        throw Error('\'' + file.path + "' holds " + std::to_string(names.size())
            + " networks; a package with one is wanted");
    }
    if (!described)
    {
        throw Error('\'' + file.path + "' does not say which machine it was compiled for: it is"
            " damaged, or of another version of PyTorch than " TORCH_VERSION);
    }
    traits.model = *names.begin();
    return traits;
}


void requireRunnable(const PackageTraits& traits, const std::string& path)
{
    const auto refuse = [&](const std::string& what)
    {
        throw Error("model \"" + path + "\" was compiled for " + what
            + "; compile it again for this machine with torch._inductor.aoti_compile_and_package");
    };
    if (traits.device != "cpu")
    {
        refuse("the device " + shown(traits.device) + ", and networks run on the CPU here");
    }
    utsname system;
    if (uname(&system) == 0 && traits.machine != system.machine)
    {
        refuse("a machine " + shown(traits.machine) + ", and this is " + system.machine);
    }
    if (traits.platform != "linux")
    {
        refuse("the platform " + shown(traits.platform));
    }
    std::istringstream words(traits.instructions);
    for (std::string word; words >> word;)
    {
        if (!hasInstructions(word))
        {
            refuse("a CPU with " + shown(word) + ", which this one has not");
        }
    }
}


PackageSurrogate::PackageSurrogate
(
    const ModelCard& card,
    const ModelFile& file,
    const CountBuild& count
)
:
    RawSurrogate(card, file.path, count)
{
    const PackageTraits traits = packageTraits(file);
    requireRunnable(traits, file.path);
    requireLibrary(file);
    provideLibTorch(file.path);

    // Without it a package takes tensors of any shape and reads beyond their end
    setenv("AOTI_RUNTIME_CHECK_INPUTS", "1", 1);

    std::vector<std::string> specification;
    try
    {
        loader_ = std::make_unique<torch::inductor::AOTIModelPackageLoader>(file.path,
            traits.model);
        specification = loader_->get_call_spec();
    }
    catch (const std::exception& fault)
    {
        throw Error("model \"" + file.path + "\" cannot be loaded; it is damaged, or compiled by"
            " another version of PyTorch than " TORCH_VERSION ": " + firstLine(fault));
    }

    const Node inputs = parseJson(specification.at(0), file.path + ", inputs");
    const std::size_t nInputs = inputs.items.size() == 2 ? countLeaves(inputs.items[1]) : 0;
    if (nInputs != this->card().arguments.size())
    {
        throw Error("model \"" + file.path + "\" takes " + std::to_string(nInputs)
            + " tensors, its card names " + std::to_string(this->card().arguments.size())
            + " arguments (" + join(this->card().arguments) + ')');
    }
    requireFiniteWeights();
}


PackageSurrogate::~PackageSurrogate() = default;


void PackageSurrogate::requireFiniteWeights() const
{
    for (const auto& [name, tensor] : loader_->get_runner()->extract_constants_map(false))
    {
        if (tensor.is_floating_point() && !at::isfinite(tensor).all().item<bool>())
        {
            throw Error("model \"" + path() + "\" has values in " + name
                + " that are not finite");
        }
    }
}


at::Tensor PackageSurrogate::run(std::vector<at::Tensor> arguments)
{
    // Compiled code may write into its arguments, and nothing tells
    for (at::Tensor& argument : arguments)
    {
        argument = argument.clone();
    }
    std::vector<at::Tensor> results;
    try
    {
        results = loader_->run(arguments);
    }
    catch (const std::exception& fault)
    {
        std::string sizes;
        for (std::size_t i = 0; i < arguments.size(); ++i)
        {
            std::ostringstream text;
            text << card().arguments[i] << ' ' << arguments[i].sizes() << ' '
                << c10::toString(arguments[i].scalar_type());
            sizes += (i > 0 ? ", " : "") + text.str();
        }
        throw Error("model \"" + path() + "\" failed with " + sizes + "; what it was compiled for"
            " stands before this message, if shape or type do not fit: " + firstLine(fault));
    }
    if (results.size() != 1)
    {
        throw Error("model \"" + path() + "\" gives " + std::to_string(results.size())
            + " tensors; " + wanted());
    }
    return results.front();
}

}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/TensorState.hpp"

#include "base/Error.hpp"

#include <ATen/ATen.h>

#include <cstring>
#include <mutex>

namespace inSitu
{
namespace
{

StateTree::Type typeOf(const at::Tensor& tensor, const std::string& name)
{
    switch (tensor.scalar_type())
    {
        case at::kFloat: return StateTree::Type::float32;
        case at::kDouble: return StateTree::Type::float64;
        case at::kInt: return StateTree::Type::int32;
        case at::kLong: return StateTree::Type::int64;
        case at::kByte:
        case at::kBool: return StateTree::Type::uint8;
        default:
            throw Error("tensor " + name + " has type " + c10::toString(tensor.scalar_type())
                + ", which cannot be saved; use float, double, int32, int64, uint8 or bool");
    }
}


const char* nameOf(StateTree::Type type)
{
    switch (type)
    {
        case StateTree::Type::float32: return "float32";
        case StateTree::Type::float64: return "float64";
        case StateTree::Type::int32: return "int32";
        case StateTree::Type::int64: return "int64";
        case StateTree::Type::uint8: break;
    }
    return "uint8";
}


template<class Sizes>
std::string describe(StateTree::Type type, const Sizes& sizes)
{
    std::vector<std::string> words;
    for (const std::int64_t size : sizes)
    {
        words.push_back(std::to_string(size));
    }
    return std::string(nameOf(type)) + " [" + join(words, ", ") + ']';
}

}


void putTensor(StateTree& state, const std::string& name, const at::Tensor& tensor)
{
    const at::Tensor source = tensor.detach().to(at::kCPU).contiguous();
    const auto bytes = static_cast<std::size_t>(source.nbytes());
    std::shared_ptr<char[]> copy(new char[bytes]);
    std::memcpy(copy.get(), source.const_data_ptr(), bytes);
    state.putArray(name, {typeOf(source, name), source.sizes().vec(), copy});
}


at::Tensor getTensor(const StateTree& state, const std::string& name, const at::Tensor& like)
{
    const StateTree::Array& array = state.getArray(name);
    const StateTree::Type type = typeOf(like, name);
    if (array.type != type || array.shape != like.sizes().vec())
    {
        throw Error("saved " + name + " is " + describe(array.type, array.shape)
            + ", but here it is " + describe(type, like.sizes()));
    }
    at::Tensor tensor = at::empty(like.sizes(), like.options().device(at::kCPU));
    std::memcpy(tensor.mutable_data_ptr(), array.data.get(), array.bytes());
    return tensor;
}


std::vector<std::uint8_t> bytesOfGenerator(at::Generator generator)
{
    const std::lock_guard<std::mutex> lock(generator.mutex());
    const at::Tensor state = generator.get_state();
    const auto* bytes = state.const_data_ptr<std::uint8_t>();
    return {bytes, bytes + state.numel()};
}


void setGenerator(at::Generator generator, const std::vector<std::uint8_t>& bytes)
{
    const at::Tensor state = at::empty({static_cast<std::int64_t>(bytes.size())}, at::kByte);
    std::memcpy(state.mutable_data_ptr(), bytes.data(), bytes.size());
    const std::lock_guard<std::mutex> lock(generator.mutex());
    generator.set_state(state);
}

}

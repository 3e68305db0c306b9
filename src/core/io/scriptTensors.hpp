// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace inSitu
{

//- LibTorch takes the sizes of tensors in a TorchScript module on trust, and reads beyond the end
//  of its memory where they are wrong. Compare them with what there is: pickle is data.pkl or
//  constants.pkl, sizeOf gives the bytes of a record that it names. Throws Error, with name and
//  what is wrong: a storage larger than its record, a tensor beyond its storage, another pickle
//  than LibTorch writes.
void requireWholeTensors(std::string_view pickle, const std::string& name,
    const std::function<std::size_t(const std::string& record)>& sizeOf);

}

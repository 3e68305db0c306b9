// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/StateTree.hpp"

#include <string>
#include <string_view>

namespace inSitu
{

//- What torch.save wrote of a state dictionary, or of dicts, lists and tuples with tensors in
//  them: a contiguous array per tensor under its key, keys of nested ones joined by '/'
//  ("state/0/exp_avg"). float32, float64, int32, int64 and uint8 stay, bool becomes uint8, int8
//  int32, float16 and bfloat16 float32. Numbers and bools become scalars, texts texts, None is
//  left out. Views (offset, strides) are taken out of their storage.
//  Nothing in the file is executed: all but tensors and plain values is refused by its name,
//  and so are big-endian files and those of torch before 1.6; all that is made of a file is at
//  most eight times as large. name stands for the file in messages. Throws Error.
StateTree readTorchState(std::string_view bytes, const std::string& name);

//- The same of a file on the disk
StateTree readTorchFile(const std::string& path);

}

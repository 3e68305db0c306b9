// SPDX-License-Identifier: GPL-3.0-or-later

#include "model/NetworkScript.hpp"

#include "model/ActivationWords.hpp"

namespace inSitu
{

std::string attributeOf(const std::string& parameter)
{
    std::string name;
    for (const char c : parameter)
    {
        name += c == '.' ? std::string("__") : std::string(1, c);
    }
    return name;
}


std::string mlpScript(const std::string& target, const std::string& input,
    const std::string& prefix, int nLayers, bool normalised, Activation activation)
{
    const auto parameter = [&](int layer, const char* what)
    {
        return "self." + attributeOf(prefix + std::to_string(layer) + what);
    };

    std::string lines;
    std::string value = input;
    for (int l = 0; l < nLayers; ++l)
    {
        std::string next = "torch.linear(" + value + ", " + parameter(2*l, ".weight") + ", "
            + parameter(2*l, ".bias") + ")";
        if (l < nLayers - 1)
        {
            next = activationScript(activation, next);
        }
        lines += "    " + target + " = " + next + "\n";
        value = target;
    }
    if (normalised)
    {
        const std::string weight = parameter(2*nLayers - 1, ".weight");
        lines += "    " + target + " = torch.layer_norm(" + target + ", [" + weight + ".size(0)], "
            + weight + ", " + parameter(2*nLayers - 1, ".bias") + ", 1e-05)\n";
    }
    return lines;
}

}

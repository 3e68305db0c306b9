// SPDX-License-Identifier: GPL-3.0-or-later

#include "model/ActivationWords.hpp"

#include "base/Error.hpp"

#include <algorithm>

namespace inSitu
{

const std::vector<std::string>& activationWords()
{
    // In the order of the enumeration
    static const std::vector<std::string> words =
    {
        "relu", "silu", "gelu", "tanh", "elu", "leaky_relu", "sigmoid", "identity"
    };
    return words;
}


Activation activationOf(const std::string& word)
{
    const auto& words = activationWords();
    const auto found = std::find(words.begin(), words.end(), word);
    if (found == words.end())
    {
        throw Error("activation '" + word + "' is not known; one of: " + join(words));
    }
    return static_cast<Activation>(found - words.begin());
}


std::string activationScript(Activation activation, const std::string& argument)
{
    switch (activation)
    {
        case Activation::relu: return "torch.relu(" + argument + ")";
        case Activation::silu: return "torch.silu(" + argument + ")";
        case Activation::gelu: return "torch.gelu(" + argument + ")";
        case Activation::tanh: return "torch.tanh(" + argument + ")";
        case Activation::elu: return "torch.elu(" + argument + ")";
        case Activation::leakyRelu: return "torch.leaky_relu(" + argument + ")";
        case Activation::sigmoid: return "torch.sigmoid(" + argument + ")";
        case Activation::identity: break;
    }
    return argument;
}

}

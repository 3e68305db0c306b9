# SPDX-License-Identifier: GPL-3.0-or-later
"""TorchScript modules with cards, good and bad: models.py FOLDER"""
import copy
import json
import sys

import torch

folder = sys.argv[1]
card = {
    "format": 1,
    "inputs": [{"name": "U", "columns": ["Ux", "Uy"]}, {"name": "p"}],
    "targets": [{"name": "p"}],
    "target": "value",
    "arguments": ["nodes"],
}


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor([[0.25], [-0.5], [0.75]]))

    def forward(self, nodes: torch.Tensor):
        return nodes @ self.weight


class Tuple(Net):
    def forward(self, nodes: torch.Tensor):
        return nodes @ self.weight, nodes


class Dictionary(Net):
    def forward(self, nodes: torch.Tensor):
        return {"p": nodes @ self.weight}


class Size(Net):
    def forward(self, nodes: torch.Tensor):
        return nodes * self.weight[0]


class Arguments(Net):
    def forward(self, nodes: torch.Tensor, edge_index: torch.Tensor):
        return nodes @ self.weight


class Gpu(Net):
    def forward(self, nodes: torch.Tensor):
        return nodes.to("cuda") @ self.weight.to("cuda")


def save(name, module=None, text=None, **changes):
    torch.jit.script(module or Net()).save(f"{folder}/{name}.pt")
    if text != "":
        with open(f"{folder}/{name}.pt.card.json", "w") as file:
            file.write(text or json.dumps({**copy.deepcopy(card), **changes}))


save("good")
save("noCard", text="")
save("brokenCard", text='{"format": 1, "inputs"')
save("hostileCard", targets=[{"name": "../../p"}])
save("tuple", Tuple())
save("dictionary", Dictionary())
save("size", Size())
save("arguments", Arguments())
save("gpu", Gpu())
bad = Net()
with torch.no_grad():
    bad.weight[1] = float("nan")
save("nan", bad)
save("dimensions", inputs=[card["inputs"][0], {"name": "p", "dimensions": [1, -1, -2, 0, 0, 0, 0]}])
save("columns", inputs=[{"name": "U", "columns": ["Ux", "Uy", "Uz"]}, {"name": "p"}])
torch.save(Net().state_dict(), f"{folder}/stateDict.pt")

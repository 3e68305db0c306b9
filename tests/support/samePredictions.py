# SPDX-License-Identifier: GPL-3.0-or-later
"""What stock PyTorch predicts with the files of one network: samePredictions.py FOLDER

FOLDER holds model.pt and model.mdlus of one MeshGraphNet and, as raw little-endian numbers, what
runArtifact.py reads. Writes artifact.bin, mdlus.bin and package.bin (float64) and, where there is a
compiler for it, net.pt2: the same network with its scales, compiled.
"""
import io
import json
import shutil
import sys
import zipfile

import torch

folder = sys.argv[1]


def read(name, rows, columns, kind):
    with open(f"{folder}/{name}.bin", "rb") as file:
        return torch.frombuffer(bytearray(file.read()), dtype=kind).reshape(rows, columns)


def write(name, output):
    with open(f"{folder}/{name}.bin", "wb") as file:
        file.write(output.double().contiguous().numpy().tobytes())


def mlp(width_in, width, width_out, normalised):
    silu = torch.nn.SiLU
    layers = [torch.nn.Linear(width_in, width), silu(), torch.nn.Linear(width, width), silu(),
              torch.nn.Linear(width, width_out)]
    if normalised:
        layers.append(torch.nn.LayerNorm(width_out))
    return torch.nn.ModuleDict({"model": torch.nn.Sequential(*layers)})


class EdgeBlock(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.edge_mlp = mlp(3*width, width, width, True)


class NodeBlock(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.node_mlp = mlp(2*width, width, width, True)


class MeshGraphNet(torch.nn.Module):
    """With the names of PhysicsNeMo, two layers everywhere, sum, SiLU"""

    def __init__(self, arguments, scales):
        super().__init__()
        width = arguments["hidden_dim_processor"]
        self.edge_encoder = mlp(arguments["input_dim_edges"], width, width, True)
        self.node_encoder = mlp(arguments["input_dim_nodes"], width, width, True)
        self.node_decoder = mlp(width, width, arguments["output_dim"], False)
        self.processor = torch.nn.ModuleDict({"processor_layers": torch.nn.ModuleList(
            block(width) for _ in range(arguments["processor_size"])
            for block in (EdgeBlock, NodeBlock))})
        self.scales = {name: torch.tensor(values, dtype=torch.float64)
                       for name, values in scales.items()}

    def network(self, nodes, edge_index, edges):
        sender, receiver = edge_index[0], edge_index[1]
        x = self.node_encoder["model"](nodes)
        e = self.edge_encoder["model"](edges)
        for layer in self.processor["processor_layers"]:
            if isinstance(layer, EdgeBlock):
                e = e + layer.edge_mlp["model"](torch.cat([e, x[sender], x[receiver]], 1))
            else:
                total = torch.zeros_like(x).index_add(0, receiver, e)
                x = x + layer.node_mlp["model"](torch.cat([total, x], 1))
        return self.node_decoder["model"](x)

    def forward(self, nodes, static, edge_index, edges):
        s = self.scales
        x = (nodes - s["inputReference"] - s["inputShift"])/s["inputScale"]
        y = self.network(torch.cat([x.float(), (static/s["staticScales"]).float()], 1), edge_index,
                         (edges/s["edgeScales"]).float())
        return y.double()*s["targetScale"] + s["targetShift"] + s["targetReference"]


with open(f"{folder}/shapes.txt") as file:
    shapes = {words[0]: (int(words[1]), int(words[2])) for words in map(str.split, file)}
nodes = read("nodes", *shapes["nodes"], torch.float64)
static = read("static", *shapes["static"], torch.float64).float()
edges = read("edges", *shapes["edges"], torch.float64)
index = read("index", *shapes["index"], torch.int64)

with zipfile.ZipFile(f"{folder}/model.mdlus") as archive:
    arguments = json.loads(archive.read("args.json"))["__args__"]
    scales = json.loads(archive.read("inSituFoam/scales.json"))
    state = torch.load(io.BytesIO(archive.read("model.pt")), weights_only=True)
model = MeshGraphNet(arguments, scales)
model.load_state_dict(state)
model.eval()

with torch.no_grad():
    write("artifact", torch.jit.load(f"{folder}/model.pt")(nodes, static, index, edges))
    write("mdlus", model(nodes, static, index, edges))

if not shutil.which("g++"):
    print("g++ is not there, so no package is compiled")
    sys.exit(0)

n_nodes, n_edges = torch.export.Dim("n_nodes", min=2), torch.export.Dim("n_edges", min=2)
exported = torch.export.export(
    model, (nodes, static, index, edges),
    dynamic_shapes=({0: n_nodes}, {0: n_nodes}, {1: n_edges}, {0: n_edges}))
try:
    torch._inductor.aoti_compile_and_package(exported, package_path=f"{folder}/net.pt2")
except Exception as fault:
    print(f"no package can be compiled here: {fault}")
    sys.exit(0)
with torch.no_grad():
    write("package", torch._inductor.aoti_load_package(f"{folder}/net.pt2")(
        nodes, static, index, edges))

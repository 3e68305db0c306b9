# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the files of this folder again: make.py [FOLDER], with PhysicsNeMo 2.2.2, torch 2.11

concat.mdlus    zip, do_concat_trick, all widths and numbers of layers different, mean, SiLU
legacy.mdlus    tar as PhysicsNeMo before 2.0 wrote it, of a class of Modulus, few arguments
expected.pt     inputs and predictions of both, by the real PhysicsNeMo
types.pt        a nested dict with every type of element, views, numbers and texts
protocol4.pt    the same in pickle's protocol 4
"""
import collections
import io
import json
import os
import sys
import tarfile

here = os.path.dirname(os.path.abspath(__file__))
from physicsNemo import MeshGraphNet, graph, torch

folder = sys.argv[1] if len(sys.argv) > 1 else here
torch.manual_seed(71)


def disturbed(model):
    """Gains and biases of layer norms too, so that none can be left out unnoticed"""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.1*torch.randn_like(parameter)
    return model.eval()


def add(file, name, data):
    member = tarfile.TarInfo(name)
    member.size = len(data)
    file.addfile(member, io.BytesIO(data))


def write_legacy(model, path, arguments):
    state = io.BytesIO()
    torch.save(model.state_dict(), state)
    with tarfile.open(path, "w") as file:
        add(file, "args.json", json.dumps({
            "__name__": "MeshGraphNet",
            "__module__": "modulus.models.meshgraphnet.meshgraphnet",
            "__args__": arguments}).encode())
        add(file, "metadata.json", json.dumps(
            {"modulus_version": "0.5.0", "mdlus_file_version": "0.1.0"}).encode())
        add(file, "model.pt", state.getvalue())


concat = disturbed(MeshGraphNet(
    3, 4, 2, processor_size=2, mlp_activation_fn="silu", num_layers_node_processor=1,
    num_layers_edge_processor=2, hidden_dim_processor=5, hidden_dim_node_encoder=6,
    num_layers_node_encoder=1, hidden_dim_edge_encoder=7, num_layers_edge_encoder=2,
    hidden_dim_node_decoder=8, num_layers_node_decoder=1, aggregation="mean",
    do_concat_trick=True, num_processor_checkpoint_segments=2))
concat.save(os.path.join(folder, "concat.mdlus"))

few = {"input_dim_nodes": 3, "input_dim_edges": 4, "output_dim": 2, "processor_size": 1,
       "hidden_dim_processor": 4, "hidden_dim_node_encoder": 5, "hidden_dim_edge_encoder": 6,
       "hidden_dim_node_decoder": 3, "num_layers_node_processor": 1,
       "num_layers_node_encoder": 1}
legacy = disturbed(MeshGraphNet(**few))
write_legacy(legacy, os.path.join(folder, "legacy.mdlus"), few)

# Senders, then receivers; one node hears nobody, one edge is there twice
edge_index = torch.tensor([[0, 1, 2, 3, 4, 5, 6, 0, 2, 2, 5], [1, 0, 3, 2, 5, 4, 0, 5, 1, 1, 3]])
nodes = torch.randn(7, 3)
edges = torch.randn(11, 4)
with torch.no_grad():
    torch.save({
        "edge_index": edge_index, "nodes": nodes, "edges": edges,
        "concat": concat(nodes, edges, graph(edge_index, 7)),
        "legacy": legacy(nodes, edges, graph(edge_index, 7)),
    }, os.path.join(folder, "expected.pt"))

ramp = torch.arange(24, dtype=torch.float32)/8
every = collections.OrderedDict(
    float32=ramp[:3].clone(), float64=torch.tensor([1/3, -2e300], dtype=torch.float64),
    float16=torch.tensor([1/3, -65504, 5.9604645e-08, float("inf"), -0.0]).half(),
    bfloat16=torch.tensor([1/3, -3e38]).bfloat16(),
    int64=torch.tensor([[2**40, -3]]), int32=torch.tensor([-7, 2**31 - 1], dtype=torch.int32),
    int8=torch.tensor([-128, 5], dtype=torch.int8),
    uint8=torch.tensor([200, 3], dtype=torch.uint8), boolean=torch.tensor([True, False, True]),
    scalar=torch.tensor(2.5), empty=torch.empty(0, 3),
    parameter=torch.nn.Parameter(torch.tensor([0.75, -4.0])))
views = {"transposed": ramp.reshape(4, 6).t(), "columns": ramp.reshape(4, 6)[:, 2:4],
         "tail": ramp[20:], "every_third": ramp[1::3]}
nested = {"tensors": every, "views": views, "epoch": 12, "large": 2**40, "negative": -70000,
          "rate": 0.625, "on": True, "nothing": None, "name": "Größe", "list": [3, (4.5, "x")],
          7: {"exp_avg": torch.tensor([9.0])}}
torch.save(nested, os.path.join(folder, "types.pt"))
torch.save(nested, os.path.join(folder, "protocol4.pt"), pickle_protocol=4)

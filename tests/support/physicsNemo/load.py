# SPDX-License-Identifier: GPL-3.0-or-later
"""Does PhysicsNeMo agree with the model that inSituFoam wrote? load.py FOLDER

FOLDER holds model.mdlus and expected.pt: a dict with edge_index, nodes, edges and
prediction, what inSituFoam makes of them. Ends with 0 if PhysicsNeMo's prediction is the
same within 1e-6 of its largest value, with 77 if PhysicsNeMo is not installed.
"""
import sys

from physicsNemo import MeshGraphNet, Module, graph, torch

folder = sys.argv[1]
given = torch.load(f"{folder}/expected.pt")

model = Module.from_checkpoint(f"{folder}/model.mdlus")
assert type(model) is MeshGraphNet, type(model)
model.eval()
with torch.no_grad():
    output = model(given["nodes"], given["edges"],
                   graph(given["edge_index"], given["nodes"].shape[0]))
error = ((output - given["prediction"]).abs().max()/output.abs().max()).item()
print(f"largest difference {error:.2e} of the largest value")

# Weights alone, into a model that is there already
other = MeshGraphNet(**model._args["__args__"])
other.load(f"{folder}/model.mdlus")
for name, weight in model.state_dict().items():
    assert torch.equal(weight, other.state_dict()[name]), name

sys.exit(0 if error <= 1e-6 else 1)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Predict with stock PyTorch: stockPrediction.py CASE START NEXT TOLERANCE

As docs/formats.md says, with the artifact in CASE/stock and the fields at time START, phi on the
edges among them. Compares with the fields <name>Predicted at NEXT, one step later. The difference may be
TOLERANCE times the largest change.
"""
import json
import os
import re
import sys

import h5py
import numpy as np
import torch

case, start, following = sys.argv[1:4]
tolerance = float(sys.argv[4])
os.chdir(case)


def inner(time, name, columns):
    """Inner values of a field in OpenFOAM's binary format"""
    with open(f"{time}/{name}", "rb") as file:
        text = file.read()
    head = re.search(rb"internalField\s+nonuniform List<\w+>\s+(\d+)\s*\(", text)
    n = int(head.group(1))
    return np.frombuffer(text, "<f8", n * columns, head.end()).reshape(n, columns).copy()


card = {"card.json": ""}
model = torch.jit.load("stock/model.pt", _extra_files=card)
card = json.loads(card["card.json"])
assert [field["name"] for field in card["edgeInputs"]] == ["phi"]
assert card["edgeInputs"][0]["oriented"] is True
assert card["edgeColumns"] == ["dx", "dy", "length", "phi"], card["edgeColumns"]
assert card["staticColumns"][-2:] == ["wallDistance", "cellVolume"], card["staticColumns"]
assert card["features"] == ["deltaT"]

with h5py.File("stock/graph.h5") as graph:
    static, edges, edge_index, edge_face, edge_sign = (
        torch.from_numpy(graph[name][()])
        for name in ("static", "edges", "edge_index", "edge_face", "edge_sign"))
    n_cells, n_nodes = (int(graph[name][()]) for name in ("n_cells", "n_nodes"))
    names = graph["static"].attrs["names"].split()

# 8 x 8 cells of 0.1/8 x 0.1/8 x 0.01, the lid is a wall, too
x = (np.arange(8) + 0.5)*0.0125
distance = np.minimum.outer(np.minimum(x, 0.1 - x), np.minimum(x, 0.1 - x)).flatten()
assert np.allclose(static[:n_cells, names.index("wallDistance")], distance, atol=1e-8)
assert (static[n_cells:, names.index("wallDistance")] == 0).all()
assert np.allclose(static[:, names.index("cellVolume")], 0.0125**2*0.01, rtol=1e-6)

# No flux through the walls, which are all that is behind the inner faces
inner_phi = inner(start, "phi", 1)[:, 0]
phi = np.zeros(int(edge_face.max()) + 1)
phi[:len(inner_phi)] = inner_phi
phi = torch.from_numpy(phi)
assert (phi != 0).any()
edges = torch.cat([edges, (phi[edge_face]*edge_sign)[:, None]], 1)

U, p = inner(start, "U", 3), inner(start, "p", 1)
sender, receiver = edge_index
rows = torch.zeros(n_nodes, 4, dtype=torch.float64)
rows[:n_cells] = torch.from_numpy(np.hstack([U[:, :2], p, np.full_like(p, 0.0078125)]))
walls = sender >= n_cells
rows[sender[walls], 2] = rows[receiver[walls], 2]
rows[n_cells:n_cells + 8, 0] = 1
rows[n_cells:, 3] = 0.0078125

then = np.hstack([U[:, :2], p])
with torch.no_grad():
    result = then + model(rows, static, edge_index, edges)[:n_cells].numpy()
    halved = edges*torch.tensor([1, 1, 1, 0.5])
    other = then + model(rows, static, edge_index, halved)[:n_cells].numpy()
written = np.hstack([inner(following, "UPredicted", 3)[:, :2], inner(following, "pPredicted", 1)])
change = np.abs(written - then).max(axis=0)
error = np.abs(result - written).max(axis=0)
print("largest change", change, "difference", error)
assert (error <= tolerance*change).all()
assert (np.abs(other - written).max(axis=0) > 10*tolerance*change).all()

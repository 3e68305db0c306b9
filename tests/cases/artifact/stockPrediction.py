# SPDX-License-Identifier: GPL-3.0-or-later
"""Predict with stock PyTorch: stockPrediction.py FORMATS CASE START NEXT TOLERANCE

Runs the examples of FORMATS (docs/formats.md) on the artifact in CASE/stock and the fields at time
START, and compares with the fields <name>Predicted at NEXT, one step later. The difference may be
TOLERANCE times the largest change.
"""
import os
import re
import sys

import h5py
import numpy as np

formats, case, start, following = sys.argv[1:5]
tolerance = float(sys.argv[5])
with open(formats) as file:
    examples = re.findall(r"(?:^    .*\n|^\n)+", file.read(), re.MULTILINE)
examples = [re.sub("^    ", "", text, flags=re.MULTILINE) for text in examples if "import h5py" in text]
assert len(examples) == 2, examples
os.chdir(case)


def cells(time, name, columns):
    """Inner values of a field in OpenFOAM's binary format"""
    with open(f"{time}/{name}", "rb") as file:
        text = file.read()
    head = re.search(rb"internalField\s+nonuniform List<\w+>\s+(\d+)\s*\(", text)
    n = int(head.group(1))
    return np.frombuffer(text, "<f8", n * columns, head.end()).reshape(n, columns)


# Cells, then the faces of movingWall (8) and fixedWalls (24): U is given there, p that of the cell
U, p = cells(start, "U", 3), cells(start, "p", 1)
with h5py.File("stock/graph.h5") as graph:
    senders, receivers = graph["edge_index"][()]
    n_cells, n_nodes = (int(graph[name][()]) for name in ("n_cells", "n_nodes"))
assert (n_cells, n_nodes) == (64, 96)
cell_of = np.full(n_nodes, -1)
behind = senders >= n_cells
cell_of[senders[behind]] = receivers[behind]
walls = np.repeat([[1.0, 0.0], [0.0, 0.0]], [8, 24], axis=0)
rows = np.hstack([np.vstack([U[:, :2], walls]), np.vstack([p, p[cell_of[n_cells:]]])])

# The first example looks into a checkpoint, the second one predicts
exec(examples[0].replace("100/", f"{start}/"))
os.chdir("stock")
import torch

space = {"nodes": torch.from_numpy(rows)}
exec(examples[1], space)
os.chdir("..")
columns = [column for field in space["card"]["inputs"] for column in field["columns"]]
assert columns == ["Ux", "Uy", "p"], columns

then = np.hstack([U[:, :2], p])
result = space["prediction"].detach().double().numpy()
if space["card"]["target"] == "increment":
    result = then + result

written = np.hstack([cells(following, "UPredicted", 3)[:, :2], cells(following, "pPredicted", 1)])
change = np.abs(written - then).max(axis=0)
error = np.abs(result - written).max(axis=0)
print("largest change", change, "difference", error)
assert (change > 0).all() and (error <= tolerance * change).all()

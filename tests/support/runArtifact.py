# SPDX-License-Identifier: GPL-3.0-or-later
"""Run an artifact in stock PyTorch: runArtifact.py FOLDER DTYPE

FOLDER holds model.pt and, as raw little-endian numbers, nodes.bin, static.bin, edges.bin
(float64), index.bin (int64) and shapes.txt (rows and columns of each). Writes output.bin
(float64) and card.json.
"""
import struct
import sys

import torch

folder, dtype = sys.argv[1], getattr(torch, sys.argv[2])


def read(name, rows, columns, kind):
    with open(f"{folder}/{name}.bin", "rb") as file:
        return torch.frombuffer(bytearray(file.read()), dtype=kind).reshape(rows, columns)


with open(f"{folder}/shapes.txt") as file:
    shapes = {words[0]: (int(words[1]), int(words[2])) for words in map(str.split, file)}

nodes = read("nodes", *shapes["nodes"], torch.float64).to(dtype)
static = read("static", *shapes["static"], torch.float64)
edges = read("edges", *shapes["edges"], torch.float64)
index = read("index", *shapes["index"], torch.int64)

card = {"card.json": ""}
module = torch.jit.load(f"{folder}/model.pt", _extra_files=card)
with torch.no_grad():
    output = module(nodes, static, index, edges)
assert output.dtype == dtype, output.dtype

values = output.double().flatten().tolist()
with open(f"{folder}/output.bin", "wb") as file:
    file.write(struct.pack(f"<{len(values)}d", *values))
text = card["card.json"]
with open(f"{folder}/card.json", "w") as file:
    file.write(text if isinstance(text, str) else text.decode())

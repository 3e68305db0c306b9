# SPDX-License-Identifier: GPL-3.0-or-later
"""The example of a model from elsewhere

diffusion.py make FORMATS CASE: run the example of FORMATS (docs/formats.md) in CASE
diffusion.py check CASE THEN NOW: pPredicted at NOW is what it makes of p at THEN, on 8 x 8 cells
"""
import os
import re
import subprocess
import sys

import numpy as np


def cells(time, name):
    """Inner values of a scalar field in OpenFOAM's binary format"""
    with open(f"{time}/{name}", "rb") as file:
        text = file.read()
    head = re.search(rb"internalField\s+nonuniform List<scalar>\s+(\d+)\s*\(", text)
    return np.frombuffer(text, "<f8", int(head.group(1)), head.end())


if sys.argv[1] == "make":
    with open(sys.argv[2]) as file:
        examples = re.findall(r"(?:^    .*\n|^\n)+", file.read(), re.MULTILINE)
    (example,) = (text for text in examples if "diffusion.pt" in text)
    os.chdir(sys.argv[3])
    # TorchScript reads the source of a class from its file
    with open("makeModel.py", "w") as file:
        file.write(re.sub("^    ", "", example, flags=re.MULTILINE))
    subprocess.run([sys.executable, "makeModel.py"], check=True)
else:
    os.chdir(sys.argv[2])
    then, now = sys.argv[3:5]
    p = cells(then, "p").reshape(8, 8)
    # Walls have the value of their cell
    padded = np.pad(p, 1, mode="edge")
    around = padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]
    expected = p + 0.05 * (around - 4 * p)
    error = np.abs(cells(now, "pPredicted").reshape(8, 8) - expected).max()
    change = np.abs(expected - p).max()
    print("largest change", change, "difference", error)
    assert change > 0 and error < 1e-6 * np.abs(p).max()

# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare comparison.dat with the fields it speaks of: errorsByHand.py CASE THEN NOW

The last row has to be that of one sample, predicted from time THEN for time NOW.
"""
import glob
import os
import re
import sys

import numpy as np

case, then, now = sys.argv[1:4]
os.chdir(case)


def cells(time, name, columns):
    """Inner values of a field in OpenFOAM's binary format"""
    with open(f"{time}/{name}", "rb") as file:
        text = file.read()
    head = re.search(rb"internalField\s+nonuniform List<\w+>\s+(\d+)\s*\(", text)
    n = int(head.group(1))
    return np.frombuffer(text, "<f8", n * columns, head.end()).reshape(n, columns)


with open(sorted(glob.glob("postProcessing/surrogate/*/comparison.dat"))[-1]) as file:
    lines = [line.rstrip("\n").lstrip("# ").split("\t") for line in file]
row = dict(zip(lines[0], map(float, lines[-1])))
assert row["Time"] == float(now) and row["samples"] == 1, row

for field, stored, columns in ("U", 3, 2), ("p", 1, 1):
    predicted, truth, still = (cells(time, name, stored)[:, :columns] for time, name in
                               ((now, field + "Predicted"), (now, field), (then, field)))
    error = np.abs(predicted - truth)
    expected = {
        "rmse": np.sqrt((error**2).mean()),
        "skill": 1 - (error**2).sum() / ((still - truth)**2).sum(),
        "largest": error.max(),
        "cell": error.max(axis=1).argmax(),
    }
    for measure, value in expected.items():
        found = row[f"{measure}({field})"]
        print(field, measure, value, found)
        assert value != 0 and abs(found - value) <= 1e-9 * abs(value), (field, measure)
    written = cells(now, field + "Error", stored)[:, :columns]
    assert np.allclose(written, predicted - truth, rtol=0, atol=1e-15)

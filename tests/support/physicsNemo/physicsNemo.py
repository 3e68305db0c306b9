# SPDX-License-Identifier: GPL-3.0-or-later
"""PhysicsNeMo's MeshGraphNet and a graph for it; says SKIPPED and ends with 77 without it.

Needed: nvidia-physicsnemo and torch_geometric. torch_scatter, which wants a compiler, and
torch.compile, which wants one at run time, are replaced where they cannot be had.
"""
import os
import sys
import types

os.environ.setdefault("TORCHDYNAMO_DISABLE", "1")

try:
    import torch
    import torch_geometric.data

    try:
        import torch_scatter
    except ImportError:
        def scatter(source, index, dim, dim_size, reduce):
            assert dim == 0 and reduce in ("sum", "mean")
            result = torch.zeros(dim_size, *source.shape[1:], dtype=source.dtype)
            result.index_add_(0, index, source)
            if reduce == "mean":
                count = torch.zeros(dim_size, dtype=source.dtype)
                count.index_add_(0, index, torch.ones_like(index, dtype=source.dtype))
                result /= count.clamp(min=1).unsqueeze(1)
            return result

        torch_scatter = types.ModuleType("torch_scatter")
        torch_scatter.scatter = scatter
        sys.modules["torch_scatter"] = torch_scatter

        # It asks for the package, not for the module
        import physicsnemo.core.version_check as version_check

        asked = version_check.check_version_spec
        version_check.check_version_spec = lambda name, *rest, **words: (
            name == "torch_scatter" or asked(name, *rest, **words))

    from physicsnemo.core.module import Module
    from physicsnemo.models.meshgraphnet import MeshGraphNet
except ImportError as fault:
    print(f"SKIPPED: PhysicsNeMo is not installed ({fault})")
    sys.exit(77)


def graph(edge_index, n_nodes):
    return torch_geometric.data.Data(edge_index=edge_index, num_nodes=n_nodes)

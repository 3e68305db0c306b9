# SPDX-License-Identifier: GPL-3.0-or-later
"""MeshGraphNet in PyTorch as others write it, and as well as it can be written with a compiler.

Peer makes a training and a prediction step of one of PEERS, all from the same weights.
"""
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

NODE_IN, EDGE_IN, OUT = 8, 4, 4

# ---------------------------------------------------------------- mesh

def hex_faces(nx, ny, nz):
    """Owner and neighbour of the internal faces of an nx x ny x nz block of cells."""
    cell = np.arange(nx*ny*nz, dtype=np.int64).reshape(nz, ny, nx)
    owner = np.stack([cell]*3, -1)
    neighbour = np.stack([cell + 1, cell + nx, cell + nx*ny], -1)
    inside = np.zeros(owner.shape, bool)
    inside[:, :, :-1, 0] = True
    inside[:, :-1, :, 1] = True
    inside[:-1, :, :, 2] = True
    return owner[inside], neighbour[inside]


class Graph:
    """Directed edges in face order, and everything a receiver-sorted peer needs."""

    def __init__(self, shape, device):
        owner, neighbour = (torch.from_numpy(a).to(device) for a in hex_faces(*shape))
        self.shape, self.device = tuple(shape), device
        self.nodes = int(np.prod(shape))
        self.sender = torch.cat([owner, neighbour])
        self.receiver = torch.cat([neighbour, owner])
        self.edges = self.sender.numel()
        self._sorted = None

    def sorted(self):
        """Edges sorted by receiver, with compressed rows and padded tables."""
        if self._sorted is None:
            kind = torch.int32 if self.edges < 1 << 24 else torch.int64
            order = torch.argsort(self.receiver*self.nodes + self.sender)
            s, r = self.sender[order].to(kind), self.receiver[order].to(kind)
            by_sender = torch.argsort(s, stable=True).to(kind)
            width = int(torch.bincount(r).max())

            def rows(key):
                count = torch.bincount(key, minlength=self.nodes)
                start = F.pad(count.cumsum(0), (1, 0))
                slot = torch.arange(width, device=self.device)
                mask = slot < count[:, None]
                entry = torch.where(mask, start[:-1, None] + slot, 0)
                return start, entry, mask

            in_start, in_entry, mask = rows(r)
            out_start, out_entry, out_mask = rows(s)
            self._sorted = dict(
                order=order, sender=s, receiver=r,
                in_start=in_start, by_sender=by_sender, out_start=out_start.to(kind),
                in_table=in_entry.to(kind), in_mask=mask,
                out_table=by_sender[out_entry], out_mask=out_mask)
        return self._sorted


# ---------------------------------------------------------------- reference weights

def reference_state(width, blocks, seed=0):
    """Weights under PhysicsNeMo's parameter names, default Linear initialisation."""
    torch.manual_seed(seed)
    return {k: v.detach().clone() for k, v in ConcatNet(width, blocks).state_dict().items()}


def mlp(inputs, width, outputs, norm=True):
    layers = [nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(),
              nn.Linear(width, outputs)]
    return nn.Sequential(*layers, nn.LayerNorm(outputs)) if norm else nn.Sequential(*layers)


class Named(nn.Module):
    """Gives an MLP the name 'model' inside its owner, as PhysicsNeMo does."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x):
        return self.model(x)


# ---------------------------------------------------------------- P2, P3, P5: concat

class EdgeBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.edge_mlp = Named(mlp(3*width, width, width))

    def forward(self, x, e, g):
        return self.edge_mlp(torch.cat((e, x[g.sender], x[g.receiver]), 1)) + e


class NodeBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.node_mlp = Named(mlp(2*width, width, width))

    def forward(self, x, e, g):
        total = torch.zeros(x.shape[0], e.shape[1], dtype=e.dtype, device=e.device)
        total = total.scatter_add_(0, g.receiver[:, None].expand_as(e), e)
        return self.node_mlp(torch.cat((total, x), -1)) + x


class ConcatNet(nn.Module):
    def __init__(self, width, blocks, checkpointed=False):
        super().__init__()
        self.checkpointed = checkpointed
        self.edge_encoder = Named(mlp(EDGE_IN, width, width))
        self.node_encoder = Named(mlp(NODE_IN, width, width))
        self.node_decoder = Named(mlp(width, width, OUT, norm=False))
        self.processor = nn.Module()
        layers = [m for _ in range(blocks) for m in (EdgeBlock(width), NodeBlock(width))]
        self.processor.processor_layers = nn.ModuleList(layers)

    def forward(self, node, edge, g):
        e, x = self.edge_encoder(edge), self.node_encoder(node)
        layers = self.processor.processor_layers
        for pair in zip(layers[::2], layers[1::2]):
            if self.checkpointed and torch.is_grad_enabled():
                x, e = checkpoint(self.block, *pair, x, e, g,
                                  use_reentrant=False, preserve_rng_state=False)
            else:
                x, e = self.block(*pair, x, e, g)
        return self.node_decoder(x)

    @staticmethod
    def block(edge_block, node_block, x, e, g):
        e = edge_block(x, e, g)
        return node_block(x, e, g), e


# ---------------------------------------------------------------- P4: split weights

def table_sum(v, table, mask):
    picked = v.index_select(0, table.view(-1)).view(*table.shape, v.shape[1])
    return torch.where(mask[..., None], picked, 0).sum(1)


class TableGather(torch.autograd.Function):
    """x[index]; its adjoint sums the rows listed in a padded table: no atomics, no sort."""

    @staticmethod
    def forward(ctx, x, index, table, mask):
        ctx.save_for_backward(table, mask)
        return x.index_select(0, index)

    @staticmethod
    def backward(ctx, grad):
        return table_sum(grad, *ctx.saved_tensors), None, None, None


class TableSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx, e, receiver, table, mask):
        ctx.save_for_backward(receiver)
        return table_sum(e, table, mask)

    @staticmethod
    def backward(ctx, grad):
        return grad.index_select(0, ctx.saved_tensors[0]), None, None, None


class SplitMlp(nn.Module):
    """The layers of an MLP behind its first linear one."""

    def __init__(self, width, outputs, norm):
        super().__init__()
        self.second, self.third = nn.Linear(width, width), nn.Linear(width, outputs)
        self.norm = nn.LayerNorm(outputs) if norm else None

    def forward(self, a):
        y = self.third(F.relu(self.second(F.relu(a))))
        return y if self.norm is None else self.norm(y)


class SplitBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.from_edge = nn.Linear(width, width)
        self.from_nodes = nn.Linear(width, 2*width, bias=False)
        self.edge_tail = SplitMlp(width, width, True)
        self.from_sum = nn.Linear(width, width)
        self.from_node = nn.Linear(width, width, bias=False)
        self.node_tail = SplitMlp(width, width, True)

    def forward(self, e, x, g):
        to_sender, to_receiver = self.from_nodes(x).split(self.width, 1)
        s = TableGather.apply(to_sender, g["sender"], g["out_table"], g["out_mask"])
        r = TableGather.apply(to_receiver, g["receiver"], g["in_table"], g["in_mask"])
        e = self.edge_tail(self.from_edge(e) + s + r) + e
        total = TableSum.apply(e, g["receiver"], g["in_table"], g["in_mask"])
        x = self.node_tail(self.from_sum(total) + self.from_node(x)) + x
        return e, x


class SplitNet(nn.Module):
    def __init__(self, width, blocks, checkpointed=False):
        super().__init__()
        self.checkpointed = checkpointed
        self.edge_in, self.edge_encoder = nn.Linear(EDGE_IN, width), SplitMlp(width, width, True)
        self.node_in, self.node_encoder = nn.Linear(NODE_IN, width), SplitMlp(width, width, True)
        self.node_out, self.node_decoder = nn.Linear(width, width), SplitMlp(width, OUT, False)
        self.blocks = nn.ModuleList(SplitBlock(width) for _ in range(blocks))

    def encode(self, node, edge):
        kind = self.edge_in.weight.dtype
        return (self.edge_encoder(self.edge_in(edge.to(kind))),
                self.node_encoder(self.node_in(node.to(kind))))

    def decode(self, x):
        y = self.node_decoder(self.node_out(x))
        return y.float() if y.dtype == torch.bfloat16 else y

    def forward(self, node, edge, g):
        e, x = self.encode(node, edge)
        for block in self.blocks:
            if self.checkpointed and torch.is_grad_enabled():
                e, x = checkpoint(block, e, x, g, use_reentrant=False, preserve_rng_state=False)
            else:
                e, x = block(e, x, g)
        return self.decode(x)

    def pairs(self):
        """(own parameter, its rows, reference name, columns of the reference)."""
        width, every = self.node_out.weight.shape[0], slice(None)

        def whole(layer, name):
            yield layer.weight, every, f"{name}.weight", every
            yield layer.bias, every, f"{name}.bias", every

        def tail(m, name):
            yield from whole(m.second, f"{name}.2")
            yield from whole(m.third, f"{name}.4")
            if m.norm is not None:
                yield from whole(m.norm, f"{name}.5")

        for first, rest, name in ((self.edge_in, self.edge_encoder, "edge_encoder.model"),
                                  (self.node_in, self.node_encoder, "node_encoder.model"),
                                  (self.node_out, self.node_decoder, "node_decoder.model")):
            yield from whole(first, f"{name}.0")
            yield from tail(rest, name)
        one, two, three = (slice(i*width, (i + 1)*width) for i in range(3))
        for i, b in enumerate(self.blocks):
            edge = f"processor.processor_layers.{2*i}.edge_mlp.model"
            node = f"processor.processor_layers.{2*i + 1}.node_mlp.model"
            yield b.from_edge.weight, every, f"{edge}.0.weight", one
            yield b.from_nodes.weight, one, f"{edge}.0.weight", two
            yield b.from_nodes.weight, two, f"{edge}.0.weight", three
            yield b.from_edge.bias, every, f"{edge}.0.bias", every
            yield from tail(b.edge_tail, edge)
            yield b.from_sum.weight, every, f"{node}.0.weight", one
            yield b.from_node.weight, every, f"{node}.0.weight", two
            yield b.from_sum.bias, every, f"{node}.0.bias", every
            yield from tail(b.node_tail, node)

    def load_reference(self, state):
        with torch.no_grad():
            for own, rows, name, columns in self.pairs():
                own[rows].copy_(state[name][..., columns])


# ---------------------------------------------------------------- optimiser

class MasterAdam:
    """Fused Adam; fp32 master weights behind parameters of a shorter type."""

    def __init__(self, parameters):
        self.own = list(parameters)
        self.short = self.own[0].dtype in (torch.bfloat16, torch.float16)
        self.master = [p.detach().float().clone() for p in self.own] if self.short else self.own
        if self.short:
            for m in self.master:
                m.grad = torch.zeros_like(m)
        self.adam = torch.optim.Adam(self.master, lr=1e-4, fused=True, capturable=True)

    def zero_grad(self):
        for p in self.own:
            p.grad = None

    def step(self):
        if self.short:
            torch._foreach_copy_([m.grad for m in self.master], [p.grad for p in self.own])
        self.adam.step()
        if self.short:
            with torch.no_grad():
                torch._foreach_copy_(self.own, self.master)


# ---------------------------------------------------------------- one peer

PEERS = {
    "P2": dict(net="concat"),
    "P2t": dict(net="concat", tf32=True),
    "P3": dict(net="concat", autocast=True),
    "P4": dict(net="split", bf16=True, compiled=True, capture=True),
    "P4e": dict(net="split", bf16=True, compiled=True),
    "P4f": dict(net="split", tf32=True, compiled=True, capture=True),
    "P5b": dict(net="split", bf16=True, compiled=True, checkpointed=True),
}


class Peer:
    def __init__(self, name, graph, width, blocks, state):
        self.name, self.graph = name, graph
        self.option = dict(tf32=False, autocast=False, bf16=False, compiled=False, capture=False,
                           checkpointed=False)
        self.option.update(PEERS[name])
        o = self.option
        if o["net"] == "split":
            self.net = SplitNet(width, blocks, o["checkpointed"])
            self.net.load_reference(state)
            self.topology = graph.sorted()
        else:
            self.net = ConcatNet(width, blocks, o["checkpointed"])
            self.net.load_state_dict(state)
            self.topology = graph
        self.net.to(graph.device, torch.bfloat16 if o["bf16"] else torch.float32)
        self.optimiser = MasterAdam(self.net.parameters())
        self.graphs = {}
        if o["compiled"]:
            kw = dict(dynamic=False, fullgraph=True)
            for block in self.net.blocks:
                block.compile(**kw)
            self.net.encode = torch.compile(self.net.encode, **kw)
            self.net.decode = torch.compile(self.net.decode, **kw)

    def edges(self, edge):
        """Edge features in the order in which this peer keeps its edges."""
        return edge[self.topology["order"]] if isinstance(self.topology, dict) else edge

    def _predict(self, node, edge):
        if self.option["autocast"]:
            with torch.autocast("cuda", torch.bfloat16):
                return self.net(node, edge, self.topology).float()
        return self.net(node, edge, self.topology)

    def _loss(self, node, edge, target):
        return F.mse_loss(self._predict(node, edge), target)

    def set_flags(self):
        torch.backends.cuda.matmul.allow_tf32 = self.option["tf32"]

    def _train(self, node, edge, target):
        self.optimiser.zero_grad()
        loss = self._loss(node, edge, target)
        loss.backward()
        self.optimiser.step()
        return loss.detach()

    def _infer(self, node, edge, target):
        with torch.no_grad():
            return self._predict(node, edge)

    def prepare(self, what, sets, warm=3):
        """Warm up (compile) and capture; returns the seconds this took."""
        self.set_flags()
        run = self._train if what == "train" else self._infer
        start = time.perf_counter()
        if not self.option["capture"]:
            for i in range(warm):
                self.run(what, sets[i % len(sets)])
        else:
            side = torch.cuda.Stream()
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                for i in range(warm):
                    run(*sets[i % len(sets)])
            torch.cuda.current_stream().wait_stream(side)
            static = tuple(t.clone() for t in sets[0])
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                out = run(*static)
            self.graphs[what] = (graph, static, out)
        torch.cuda.synchronize()
        return time.perf_counter() - start

    def run(self, what, inputs):
        if what in self.graphs:
            graph, static, out = self.graphs[what]
            for to, source in zip(static, inputs):
                to.copy_(source)
            graph.replay()
            return out
        return (self._train if what == "train" else self._infer)(*inputs)

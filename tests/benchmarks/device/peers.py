#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Times MeshGraphNet's training and prediction step in PyTorch on a GPU, for comparison.

    peers.py --size 40 40 40 --peers P2,P4

One line of JSON per reading.

    P2   concatenation, x[idx], scatter_add, fp32, as NVIDIA PhysicsNeMo    P2t  with TF32
    P3   P2 under bf16 autocast
    P4   split weights, bf16, torch.compile per block, the whole step in one CUDA graph
    P4e  P4 without the CUDA graph
    P4f  P4 in fp32 with TF32
    P5b  P4e with one checkpoint per block
"""
import argparse
import gc
import json
import statistics
import sys
import time

import torch

from peerModels import EDGE_IN, NODE_IN, OUT, Graph, Peer, reference_state

# ---------------------------------------------------------------- measuring

def random_sets(graph, count, seed=1):
    gen = torch.Generator(device=graph.device).manual_seed(seed)

    def draw(rows, columns):
        return torch.randn(rows, columns, generator=gen, device=graph.device)

    return [(draw(graph.nodes, NODE_IN), draw(graph.edges, EDGE_IN), draw(graph.nodes, OUT))
            for _ in range(count)]


def summary(values):
    q = statistics.quantiles(values, n=4) if len(values) > 1 else [values[0]]*3
    return dict(median=round(q[1], 5), q1=round(q[0], 5), q3=round(q[2], 5))


def once(peer, what, inputs):
    """GPU, host and wall milliseconds of one step; the device is idle before and after."""
    peer.set_flags()
    a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda.synchronize()
    start = time.perf_counter()
    a.record()
    peer.last = peer.run(what, inputs)
    b.record()
    queued = time.perf_counter()
    torch.cuda.synchronize()
    end = time.perf_counter()
    return dict(gpu=a.elapsed_time(b), host=1e3*(queued - start), wall=1e3*(end - start))


def measure(peers, what, sets, reps):
    """Interleaved: A B .. in even repetitions, .. B A in odd ones."""
    got = {p.name: {} for p in peers}
    for rep in range(reps):
        for p in peers if rep % 2 == 0 else peers[::-1]:
            inputs = sets[p.name][rep % len(sets[p.name])]
            for k, v in once(p, what, inputs).items():
                got[p.name].setdefault(k, []).append(v)
    return got


def pipelined(peer, what, sets, count):
    """Wall time per step in ms when steps are queued without waiting."""
    peer.set_flags()
    torch.cuda.synchronize()
    start = time.perf_counter()
    for i in range(count):
        peer.run(what, sets[i % len(sets)])
    torch.cuda.synchronize()
    return 1e3*(time.perf_counter() - start)/count


def kernels(peer, what, inputs):
    """Kernels per step and the heaviest of them, from torch's profiler."""
    from torch.profiler import ProfilerActivity, profile
    peer.set_flags()
    peer.run(what, inputs)
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA]) as prof:
        peer.run(what, inputs)
        torch.cuda.synchronize()
    rows = [(e.key, e.count, e.self_device_time_total) for e in prof.key_averages()
            if e.self_device_time_total > 0]
    total = sum(t for _, _, t in rows)
    top = sorted(rows, key=lambda r: -r[2])[:14]
    return dict(count=sum(c for k, c, _ in rows if not k.startswith(("Memcpy", "Memset"))),
                device_us=round(total, 1),
                top=[[k[:110], c, round(t, 1)] for k, c, t in top])


def line(**fields):
    print(json.dumps(fields), flush=True)


def bench(args):
    graph = Graph(args.size, torch.device("cuda"))
    state = reference_state(args.width, args.blocks)
    base = random_sets(graph, args.sets)
    common = dict(size=args.size, cells=graph.nodes, edges=graph.edges, width=args.width,
                  blocks=args.blocks, torch=torch.__version__,
                  device=torch.cuda.get_device_name())
    for what in args.what.split(","):
        ready, sets, extra = [], {}, {}
        for name in args.peers.split(","):
            peer = None
            try:
                peer = Peer(name, graph, args.width, args.blocks, state)
                mine = [(n, peer.edges(e), t) for n, e, t in base]
                before = torch.cuda.memory_allocated()
                torch.cuda.reset_peak_memory_stats()
                setup = peer.prepare(what, mine)
                peak = torch.cuda.max_memory_allocated() - before
                ready.append(peer)
                sets[name] = mine
                extra[name] = dict(setup_s=round(setup, 2),
                                   bytes_per_cell=round(peak/graph.nodes))
                print(f"# {name} {what} ready in {setup:.1f} s", file=sys.stderr, flush=True)
            except Exception as error:                  # a peer that fails is a reading too
                line(what=what, peer=name, error=str(error)[:400], **common)
                peer = None
                gc.collect()
                torch.cuda.empty_cache()
        got = measure(ready, what, sets, args.reps)
        for p in ready:
            fields = {k + "_ms": summary(v) for k, v in got[p.name].items()}
            fields["pipelined_ms"] = round(pipelined(p, what, sets[p.name], args.reps), 4)
            if args.profile:
                fields["kernels"] = kernels(p, what, sets[p.name][0])
            line(what=what, peer=p.name, reps=args.reps, **extra[p.name], **fields, **common)
        del ready, sets
        peer = p = None                                 # they hold networks
        gc.collect()
        torch.cuda.empty_cache()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, nargs=3, default=[40, 40, 40])
    parser.add_argument("--peers", default="P2,P3,P4,P4f,P5b")
    parser.add_argument("--what", default="train,infer")
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--blocks", type=int, default=15)
    parser.add_argument("--reps", type=int, default=30)
    parser.add_argument("--sets", type=int, default=4, help="input sets in rotation")
    parser.add_argument("--profile", action="store_true", help="count kernels")
    bench(parser.parse_args())


if __name__ == "__main__":
    main()

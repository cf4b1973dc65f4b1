#!/usr/bin/env python3
"""Runs the problems of gradbench in JAX and PyTorch, where they are installed, in the same run as Lamina, and prints
one table. Nothing else needs this script or those packages.

One thread, f64, medians of CPU time, as the driver measures. JAX is compiled (jax.jit); PyTorch runs operation by
operation under torch.func, and compiled by torch.compile (which needs a C++ compiler). Each peer and size is a process
of its own, which may take so many seconds as --limit says, compiling included; what is not done by then, or not
possible there, is shown as "-". Compile time is not part of what is shown."""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from importlib.util import find_spec
from types import SimpleNamespace

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

FORMS = ("objective", "derivative")
PEERS = {"jax.jit": "jax", "torch.func": "torch", "torch.compile": "torch"}  # and the package of each
NAMES = ("concatenate", "exp", "log", "sin", "cos", "tanh", "sqrt", "einsum", "zeros_like", "stack", "amin", "where")


# ---- the packages -------------------------------------------------------------------------------------------------
# Each gives: what functions call; from numpy to arrays; from a function to one that has done its work on return.

def with_jax():
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platforms", "cpu")
    xp = SimpleNamespace(**{name: getattr(jnp, name) for name in NAMES}, array=jnp.asarray, scan=jax.lax.scan,
                         grad=jax.grad, sigmoid=jax.nn.sigmoid, logsumexp=jax.scipy.special.logsumexp)

    def prepared(f):
        compiled = jax.jit(f)
        return lambda *x: jax.block_until_ready(compiled(*x))

    return xp, jax, prepared


def with_torch(compiled):
    import torch
    from torch import func

    torch.set_num_threads(1)

    def scan(step, carry, rows):
        out = []
        for row in rows:
            carry, y = step(carry, row)
            out.append(y)
        return carry, torch.stack(out)

    xp = SimpleNamespace(**{name: getattr(torch, name) for name in NAMES}, array=torch.as_tensor, scan=scan,
                         grad=func.grad, sigmoid=torch.sigmoid, logsumexp=torch.logsumexp)
    return xp, func, torch.compile if compiled else lambda f: f


def median_us(work, inputs, seconds):
    work(*inputs)
    times, start = [], time.perf_counter()
    while len(times) < 3 or time.perf_counter() - start < seconds:
        began = time.process_time_ns()
        work(*inputs)
        times.append((time.process_time_ns() - began) / 1e3)
    return statistics.median(times)


def measure(peer, problem, size, seconds):
    """One peer's process: prints a line with microseconds for each form."""
    import numpy
    from problems import PROBLEMS

    f, data, *forms, _ = PROBLEMS[problem]
    xp, package, prepared = with_jax() if peer == "jax.jit" else with_torch(peer == "torch.compile")
    names = ("grad", "vmap", "jvp", "jacfwd", "jacrev")
    t = SimpleNamespace(**{name: getattr(package, name) for name in names}, xp=xp)
    inputs = [xp.array(numpy.asarray(x)) for x in data(numpy.random.default_rng(20261121), size)]
    for make in forms:
        print(median_us(prepared(make(t, lambda *x: f(xp, *x))), inputs, seconds), flush=True)


# ---- the table ----------------------------------------------------------------------------------------------------

def lamina(program, problem, size, seconds):
    command = [program, "--json", "--problem", problem, "--size", size, "--seconds", str(seconds)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)[0]


def peer_us(peer, problem, size, options):
    """Microseconds of each form; None for one that is not done in time or not possible. Says on stderr why."""
    command = [sys.executable, __file__, "--measure", peer, "--problem", problem, "--size", size, "--seconds",
               str(options.seconds), options.program]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=options.limit)
        out, why = run.stdout, (run.stderr.strip().splitlines() or [""])[-1]
    except subprocess.TimeoutExpired as late:
        out, why = (late.stdout or b"").decode(), f"not done within {options.limit:g} seconds"
    done = [float(line) for line in out.split()]
    if len(done) < len(FORMS):
        print(f"{problem} {size}, {peer}: {why}", file=sys.stderr)
    return done + [None] * (len(FORMS) - len(done))


def cells(us, own):
    return f"{'-':>14}{'':>7}" if us is None else f"{us:>14.1f}{us / own:>7.2f}"


def table(options):
    from problems import PROBLEMS

    if options.problem not in (None, *PROBLEMS):
        sys.exit(f"no such problem: {options.problem}; there are {', '.join(PROBLEMS)}")
    peers = [name for name, package in PEERS.items() if find_spec(package)]
    for package in sorted({package for name, package in PEERS.items() if name not in peers}):
        print(f"not installed: {package}")
    print("CPU microseconds, and how many times Lamina's they are")
    print(f"{'':<36}{'lamina':>11}{'by hand':>11}{'ratio':>7}" + "".join(f"{name:>14}{'ratio':>7}" for name in peers))
    for problem in [options.problem] if options.problem else PROBLEMS:
        for size in [options.size] if options.size else PROBLEMS[problem][-1]:
            own = lamina(options.program, problem, size, options.seconds)
            others = [peer_us(name, problem, size, options) for name in peers]
            for i, form in enumerate(FORMS):
                us, by_hand = own["of_" + form]["lamina_us"], own["of_" + form]["by_hand_us"]
                row = f"{problem + ' ' + size:<25}{form:<11}{us:>11.1f}{by_hand:>11.1f}{by_hand / us:>7.2f}"
                print(row + "".join(cells(other[i], us) for other in others), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the gradbench program of a build")
    parser.add_argument("--problem", help="one problem only")
    parser.add_argument("--size", help="with --problem: one size only")
    parser.add_argument("--seconds", type=float, default=0.5, help="of each measurement, at least (%(default)s)")
    parser.add_argument("--limit", type=float, default=300, help="seconds that a peer may take (%(default)s)")
    parser.add_argument("--measure", choices=PEERS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.size and not options.problem:
        parser.error("--size needs --problem")
    if options.measure:
        measure(options.measure, options.problem, options.size, options.seconds)
    else:
        table(options)


if __name__ == "__main__":
    main()

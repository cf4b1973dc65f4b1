#!/usr/bin/env python3
"""Times the work of bench_primitives and bench_matmul in PyTorch and JAX, where they are installed, in the same run as
Lamina, and prints ratios. Usage: peers.py <build directory>; with a second argument, `conv`, the 1,528 convolutions of
bench_conv and their gradients in PyTorch instead, with `odeint` what bench_odeint does in JAX. Nothing else needs this
script or those packages.

One thread everywhere, f64, medians. PyTorch runs operation by operation, as Lamina does. JAX is shown twice: operation
by operation, and as a compiled program (compile time not counted), which is another kind of thing."""

import os
import re
import statistics
import subprocess
import sys
import time

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

OPERATIONS = 1000
MODES = ("base", "tape", "dual", "batch", "tape in tape")


def median_ns(work, runs=15):
    work()
    times = []
    for _ in range(runs):
        start = time.perf_counter_ns()
        work()
        times.append(time.perf_counter_ns() - start)
    return statistics.median(times)


def chain(x, y):
    for _ in range(OPERATIONS // 4):
        x = ((x * y + y) - y) * y
    return x


def lamina(build):
    """{(mode, n): ns per operation} and {n: ns per matrix product} from the benchmarks' own tables."""

    def lines(name):
        program = os.path.join(build, "tests", "bench_" + name)
        return subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()

    chains, products = {}, {}
    for line in lines("primitives"):
        found = re.match(r"([a-z ]+?) +([\d.]+) +([\d.]+)$", line)
        if found and found[1] in MODES:
            chains[found[1], 1], chains[found[1], 64] = float(found[2]), float(found[3])
    for line in lines("matmul"):
        if line.startswith("vmap"):
            break
        found = re.match(r" *(\d+) +(\d+) ", line)
        if found:
            products[int(found[1])] = float(found[2])
    return chains, products


def with_torch(sizes):
    import torch
    from torch.func import grad, jvp, vmap

    torch.set_num_threads(1)
    chains, products = {}, {}
    for n in (1, 64):
        x = torch.ones(n if n > 1 else (), dtype=torch.float64)

        def total(x, y):
            return chain(x, y).sum()

        def backward(order):
            a, b = (x.clone().requires_grad_() for _ in range(2))
            value = total(a, b)
            for _ in range(order - 1):
                first = torch.autograd.grad(value, (a, b), create_graph=True)
                value = first[0].sum() + first[1].sum()
            torch.autograd.grad(value, (a, b))

        works = {
            "base": lambda: chain(x, x),
            "tape": lambda: backward(1),
            "dual": lambda: jvp(chain, (x, x), (x, x)),
            "batch": lambda: vmap(chain)(x[None], x[None]),
            "tape in tape": lambda: backward(2),
        }
        for mode, work in works.items():
            chains[mode, n] = median_ns(work) / OPERATIONS
    for n in sizes:
        a = torch.ones(n, n, dtype=torch.float64)
        products[n] = median_ns(lambda: a @ a, 101)
    return {"torch": (chains, products)}


def with_jax(sizes):
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platforms", "cpu")
    both = {}
    for name, wrap in (("jax", lambda f: f), ("jax.jit", jax.jit)):
        chains, products = {}, {}
        for n in (1, 64):
            x = jnp.ones(n if n > 1 else (), dtype=jnp.float64)

            def total(x, y):
                return chain(x, y).sum()

            first = jax.grad(total, (0, 1))
            works = {
                "base": (chain, (x, x)),
                "tape": (first, (x, x)),
                "dual": (lambda a, b: jax.jvp(chain, (a, b), (a, b)), (x, x)),
                "batch": (jax.vmap(chain), (x[None], x[None])),
                "tape in tape": (jax.grad(lambda a, b: sum(g.sum() for g in first(a, b)), (0, 1)), (x, x)),
            }
            for mode, (f, arguments) in works.items():
                g = wrap(f)
                runs = 3 if name == "jax" else 15
                chains[mode, n] = median_ns(lambda: jax.block_until_ready(g(*arguments)), runs) / OPERATIONS
        product = wrap(jnp.matmul)
        for n in sizes:
            a = jnp.ones((n, n), dtype=jnp.float64)
            products[n] = median_ns(lambda: product(a, a).block_until_ready(), 101)
        both[name] = (chains, products)
    return both


def print_table(title, own, peers, label):
    print(f"\n{title:<22}{'lamina':>12}" + "".join(f"{name:>14}{'ratio':>9}" for name in peers))
    for key, ns in own.items():
        row = f"{label(key):<22}{ns:>12.1f}"
        for other in peers.values():
            row += f"{other[key]:>14.1f}{other[key] / ns:>9.1f}"
        print(row)


def least_ns(work):
    """The least of some runs, each long enough for the clock, as bench_conv has it."""
    work()
    start = time.perf_counter_ns()
    work()
    once = time.perf_counter_ns() - start
    repeats, best = 1 + int(5e4 / once), once
    for _ in range(3 if once > 1e6 else 9):
        start = time.perf_counter_ns()
        for _ in range(repeats):
            work()
        best = min(best, (time.perf_counter_ns() - start) / repeats)
    return best


def convolution(torch, n, c, size, o, window, stride, way):
    """What one of bench_conv's ways is in PyTorch. Padding on both sides is the larger of what `same` has on each."""
    x, w = torch.full((n, c, size, size), 0.5), torch.full((o, c, window, window), 0.25)
    total = max((-(-size // stride) - 1) * stride + window - size, 0)
    padding = total - total // 2
    if way == 0:
        return lambda: torch.conv2d(x, w, None, stride, padding)
    g, back = torch.ones_like(torch.conv2d(x, w, None, stride, padding)), torch.ops.aten.convolution_backward
    two, wanted = [stride] * 2, [way == 1, way == 2, False]
    return lambda: back(g, x, w, None, two, [padding] * 2, [1, 1], False, [0, 0], 1, wanted)


def convolutions(build):
    import torch

    torch.set_num_threads(1)
    program = os.path.join(build, "tests", "bench_conv")
    lines = subprocess.run([program, "each"], capture_output=True, text=True, check=True).stdout.splitlines()
    ratios = []
    for line in lines:
        *shape, own, _ = map(int, line.split())
        ratios.append((own / least_ns(convolution(torch, *shape)), shape, own))
    ratios.sort(reverse=True)
    for way, name in enumerate(("forward", "by x", "by w")):
        own = [ratio for ratio, shape, _ in ratios if shape[6] == way]
        above = sum(ratio > 1.1 for ratio in own)
        print(f"{name:<8} {len(own)} shapes, median of PyTorch's time {statistics.median(own):.2f}, above 1.1: {above}")
    for ratio, (n, c, size, o, window, stride, way), own in ratios[:20]:
        print(f"{ratio:6.2f}  way {way}: {n} x {c} x {size}^2, {o} of {window}^2 by {stride}, {own / 1000:.0f} us")


def initial_values(build):
    import jax
    import jax.numpy as jnp
    from jax.experimental.ode import odeint

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platforms", "cpu")

    def prey(y, t, p):
        both = y[0] * y[1]
        return jnp.stack([p[0] * y[0] - p[1] * both, p[3] * both - p[2] * y[1]])

    n = 100
    matrix = 0.1 * jnp.sin(jnp.arange(n * n)).reshape(n, n) - jnp.eye(n)
    small = (jnp.array([10.0, 5.0]), jnp.array([1.1, 0.4, 0.4, 0.1]))
    problems = [(prey, 20.0, 21, small), (prey, 20.0, 201, small),
                (lambda y, t, a: a @ y, 5.0, 21, (jnp.sin(jnp.arange(1.0, n + 1)), matrix))]
    program = os.path.join(build, "tests", "bench_odeint")
    lines = subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()
    print(lines[0] + "        jax")
    for k, (f, end, times, arguments) in enumerate(problems):
        ts = jnp.linspace(0, end, times)

        def loss(y, p):
            return (odeint(f, y, ts, p)[1:] ** 2).sum()

        for i, g in enumerate((jax.jit(loss), jax.jit(jax.grad(loss, (0, 1))))):
            ns = median_ns(lambda: jax.block_until_ready(g(*arguments)))
            print(f"{lines[1 + 2 * k + i]} {ns / 1000:15.1f}")


def main():
    if len(sys.argv) == 3 and sys.argv[2] == "odeint":
        initial_values(sys.argv[1])
        return
    if len(sys.argv) == 3 and sys.argv[2] == "conv":
        convolutions(sys.argv[1])
        return
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    chains, products = lamina(sys.argv[1])
    peers = {}
    for measure in (with_torch, with_jax):
        try:
            peers.update(measure(products))
        except ImportError as absent:
            print(f"not installed: {absent.name}")
    print_table("ns per operation", chains, {k: v[0] for k, v in peers.items()}, lambda k: f"{k[0]}, {k[1]}")
    print_table("ns per product", products, {k: v[1] for k, v in peers.items()}, lambda n: f"{n} x {n}")


if __name__ == "__main__":
    main()

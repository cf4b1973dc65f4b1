#!/usr/bin/env python3
"""Times the work of bench_primitives and bench_matmul in PyTorch and JAX, where they are installed, in the same run as
Lamina, and prints ratios. Usage: peers.py <build directory>; with a second argument, `conv`, the 1,528 convolutions of
bench_conv and their gradients in PyTorch instead, with `odeint` what bench_odeint does in JAX, with `loops` what
bench_loops does, whose values are compared as well. Nothing else needs this script or those packages.

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


def until(jax, more, step, start):
    """How often step is made while more holds: JAX has no reverse mode for loops that end by a condition."""
    trips, compiled = 0, jax.jit(step)
    while more(start):
        start = compiled(start)
        trips += 1
    return trips


def wave(height, turn, *dims):
    import jax.numpy as jnp

    count = 1
    for n in dims:
        count *= n
    return height * jnp.sin(turn * jnp.linspace(0, 3, count)).reshape(dims)


def loops_by_condition(jax, jnp):
    """{name: (function, arguments)}, as in the other parts; names and functions are those of loops.c."""

    def repeat(trips, step, start):
        return jax.lax.fori_loop(0, trips, lambda _, carry: step(carry), start)

    def pendulum_step(gravity):
        def step(carry):
            angle, speed, t = carry
            speed = speed - 1e-3 * (gravity * jnp.sin(angle))
            return angle + 1e-3 * speed, speed, t + 1e-3

        return step

    swing = until(jax, lambda c: c[0] > 0, pendulum_step(9.8), (1.0, 0.5, 0.0))

    def pendulum(angle, speed, gravity):
        _, speed, t = repeat(swing, pendulum_step(gravity), (angle, speed, 0.0))
        return speed**2 + t

    def newton_step(a):
        return lambda x: x - 0.1 * ((x * x - a) / (2 * x))

    def newton(n):
        a = 1.5 + wave(1, 1, n)
        trips = until(jax, lambda x: jnp.abs(x * x - a).max() > 1e-6, newton_step(a), jnp.ones(n))
        return lambda a: (repeat(trips, newton_step(a), jnp.ones(n)) ** 2).sum(), (a,)

    def fixed_step(w, b):
        def step(carry):
            y = jnp.tanh(w @ carry[0] + b)
            return y, jnp.abs(y - carry[0]).max()

        return step

    w, b, start = wave(0.1, 100 / 3, 32, 32), wave(1, 1, 32), (jnp.zeros(32), 1.0)
    trips = until(jax, lambda c: c[1] > 1e-8, fixed_step(w, b), start)
    return {
        "pendulum": (pendulum, (1.0, 0.5, 9.8)),
        "Newton, 3": newton(3),
        "Newton, 100": newton(100),
        "fixed point, 32": (lambda w, b: (repeat(trips, fixed_step(w, b), start)[0] ** 2).sum(), (w, b)),
    }


def loops_of_own_steps(jax, jnp):
    def prey_step(p):
        def slope(y):
            both = y[0] * y[1]
            return jnp.stack([p[0] * y[0] - p[1] * both, p[2] * both - p[3] * y[1]])

        def step(carry):
            t, y, h = carry
            h = jnp.minimum(h, 2 - t)
            k1 = slope(y)
            k2 = slope(y + h * k1)
            k3 = slope(y + 0.25 * h * (k1 + k2))
            error = jnp.linalg.norm(h / 3 * (k1 + k2 - 2 * k3))
            holds, by = error <= 1e-3, (1e-3 / jax.lax.stop_gradient(error)) ** (1 / 3)
            ahead = y + h / 6 * (k1 + k2 + 4 * k3)
            return jnp.where(holds, t + h, t), jnp.where(holds, ahead, y), h * jnp.clip(0.9 * by, 0.3, 3)

        return step

    p, y = jnp.array([1.1, 0.4, 0.1, 0.4]), jnp.array([10.0, 5.0])
    trips = until(jax, lambda c: c[0] < 2 - 1e-12, prey_step(p), (0.0, y, 0.1))

    def prey(p, y):
        return (jax.lax.fori_loop(0, trips, lambda _, c: prey_step(p)(c), (0.0, y, 0.1))[1] ** 2).sum()

    return {"prey, own steps": (prey, (p, y))}


def loops_on_grids(jax, jnp):
    fori, lse = jax.lax.fori_loop, jax.scipy.special.logsumexp

    def heat(n, steps):
        def step(_, u, c):
            return jnp.concatenate([u[:1], u[1:-1] + c * (u[:-2] - 2 * u[1:-1] + u[2:]), u[-1:]])

        return lambda u, c: (fori(0, steps, lambda i, u: step(i, u, c), u) ** 2).sum(), (wave(1, 1, n), 0.2)

    def sinkhorn(c, a, b):
        a, b = jax.nn.log_softmax(a), jax.nn.log_softmax(b)
        g = fori(0, 100, lambda _, g: b - lse((a - lse(g - c, axis=1))[:, None] - c, axis=0), jnp.zeros_like(b))
        return (jnp.exp((a - lse(g - c, axis=1))[:, None] + g - c) * c).sum()

    table = {f"heat, {n} x {steps}": heat(n, steps) for n, steps in ((30, 50), (1000, 50), (1000, 1000), (10000, 50))}
    for m, n in ((6, 7), (50, 50)):
        table[f"Sinkhorn, {m} x {n}"] = (sinkhorn, (1 + wave(1, 9, m, n), wave(1, 1, m), wave(1, 1, n)))
    return table


def loops_of_steps(jax, jnp):
    fori = jax.lax.fori_loop

    def bodies(q, v, masses):
        def pull(q):
            d = q[None] - q[:, None]
            return ((masses * ((d * d).sum(2) + 0.05) ** -1.5)[:, :, None] * d).sum(1)

        def step(_, carry):
            q = carry[0] + 0.01 * carry[1]
            return q, carry[1] + 0.01 * pull(q)

        return (fori(0, 100, step, (q, v))[0] ** 2).sum()

    def neural(w, b, v, y):
        def f(y):
            return v @ jnp.tanh(w @ y + b)

        def step(_, y, h=0.05):
            k1 = f(y)
            k2 = f(y + h / 2 * k1)
            k3 = f(y + h / 2 * k2)
            return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + f(y + h * k3))

        return (fori(0, 50, step, y) ** 2).sum()

    def descent(length, a, b):
        def step(_, carry):
            v = 0.9 * carry[1] + a.T @ (a @ carry[0] - b)
            return carry[0] - length * v, v

        return ((a @ fori(0, 100, step, (jnp.zeros(10), jnp.zeros(10)))[0] - b) ** 2).sum()

    def riccati(a, b, q, r):
        def step(_, p):
            bpa = b.T @ (p @ a)
            return q + a.T @ (p @ a) - bpa.T @ jnp.linalg.solve(r + b.T @ (p @ b), bpa)

        return fori(0, 100, step, q).sum()

    return {
        "bodies, 5": (bodies, (wave(1, 8, 5, 3), wave(0.1, 3, 5, 3), 1 + wave(1, 1, 5))),
        "neural ODE": (neural, (wave(0.3, 40, 32, 8), wave(1, 1, 32), wave(0.3, 30, 8, 32), wave(1, 2, 8))),
        "descent, 50 x 10": (descent, (1e-3, wave(1, 200, 50, 10), wave(1, 9, 50))),
        "Riccati, 6 x 6": (riccati, (wave(0.3, 11, 6, 6), wave(1, 5, 6, 2), jnp.eye(6), jnp.eye(2))),
    }


def loops_of_sequences(jax, jnp):
    scan, lse = jax.lax.scan, jax.scipy.special.logsumexp

    def recurrent(w, v, b, xs):
        def step(h, x):
            h = jnp.tanh(w @ h + v @ x + b)
            return h, (h * h).sum()

        return scan(step, jnp.zeros_like(b), xs)[1].sum()

    def gated(w, v, r, s, xs, start):
        def step(h, x):
            z, gate = jax.nn.sigmoid(h @ w + x @ v), jax.nn.sigmoid(h @ r + x @ s)
            return (1 - z) * h + z * jnp.tanh((gate * h) @ w + x @ s), None

        return (scan(step, start, xs)[0] ** 2).sum()

    def kalman(a, q, h, r, ys):
        def step(carry, y):
            x, p = a @ carry[0], a @ carry[1] @ a.T + q
            s, e, hp = h @ p @ h.T + r, y - h @ x, h @ p
            gain = jnp.linalg.solve(s, hp).T
            return (x + gain @ e, p - gain @ hp), e @ jnp.linalg.solve(s, e) + jnp.log(jnp.linalg.det(s))

        return scan(step, (jnp.zeros(4), jnp.eye(4)), ys)[1].sum()

    def markov(t, xs):
        t = jax.nn.log_softmax(t)
        return lse(scan(lambda a, x: (lse(a[:, None] + t, axis=0) + x, None), jnp.zeros(8), xs)[0])

    weights = [wave(0.2, turn, n, 32) for turn, n in ((40, 32), (30, 16), (20, 32), (33, 16))]
    return {
        "recurrent, 32": (recurrent, (weights[0], wave(0.2, 30, 32, 16), wave(1, 1, 32), wave(1, 90, 100, 16))),
        "gated, 8 x 32": (gated, (*weights, wave(1, 90, 50, 8, 16), wave(1, 5, 8, 32))),
        "Kalman, 4": (kalman, (jnp.eye(4) + wave(0.1, 9, 4, 4), 0.1 * jnp.eye(4), wave(1, 7, 2, 4), 0.2 * jnp.eye(2),
                               wave(1, 70, 100, 2))),
        "Markov, 8": (markov, (wave(1, 20, 8, 8), wave(1, 99, 100, 8))),
    }


def compare_loop(jax, jnp, lines, f, arguments):
    """Lamina's lines, function and gradient, with JAX's least times; fails where the two do not compute the same."""
    arguments = [jnp.asarray(x) for x in arguments]
    for line, g in zip(lines, (jax.jit(f), jax.jit(jax.grad(f)))):
        x, own = g(*arguments).ravel(), float(line.split()[-1])
        total = float(x @ jnp.arange(1.0, x.size + 1))
        if not abs(total - own) <= 1e-6 * abs(own):
            sys.exit(f"{line}\nJAX has {total}")
        ns = min(least_ns(lambda: jax.block_until_ready(g(*arguments))) for _ in range(9))
        print(f"{line} {ns / 1000:10.1f}", flush=True)


def loops(build):
    """Each problem of bench_loops, and right after it the same in JAX."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platforms", "cpu")
    program, head = os.path.join(build, "tests", "bench_loops"), True
    for part in (loops_by_condition, loops_of_own_steps, loops_on_grids, loops_of_steps, loops_of_sequences):
        for name, (f, arguments) in part(jax, jnp).items():
            lines = subprocess.run([program, name], capture_output=True, text=True, check=True).stdout.splitlines()
            if head:
                print(lines[0] + "        jax")
            head = False
            compare_loop(jax, jnp, lines[1:], f, arguments)


def main():
    if len(sys.argv) == 3 and sys.argv[2] == "loops":
        loops(sys.argv[1])
        return
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

#!/usr/bin/env python3
"""Runs problems of gradbench in JAX and PyTorch, where they are installed, in the same run as Lamina, and prints one
table. Usage: peers.py <gradbench program> [seconds per measurement]. Nothing else needs this script or those packages.

One thread, f64, medians of CPU time, as the driver measures. JAX is compiled (compile time not counted); PyTorch runs
operation by operation under torch.func. Data are drawn here with the distributions of the driver: how long a problem
takes does not depend on them. Each function is written once, over `xp`, in the way that is usual in these packages."""

import json
import os
import statistics
import subprocess
import sys
import time
from types import SimpleNamespace

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

BITS = 14  # of a character in lstm


# ---- the problems: functions of the package xp, and their inputs --------------------------------------------------

def gmm(xp, alphas, means, factors, x, places):
    d = means.shape[1]
    logarithms = factors[:, :d]
    row = xp.concatenate([xp.exp(logarithms), factors[:, d:], xp.zeros_like(alphas)[:, None]], 1)
    q = row[:, places]
    y = xp.einsum("kij,nj->nki", q, x) - xp.einsum("kij,kj->ki", q, means)
    terms = alphas + logarithms.sum(1) - 0.5 * (y * y).sum(2)
    return xp.logsumexp(terms, 1).sum() - x.shape[0] * xp.logsumexp(alphas, 0) - 0.5 * (q * q).sum()


def gmm_data(random, label):
    d, k, n = (int(word[1:]) for word in label.split())
    places = [[i if i == j else d + i * (i - 1) // 2 + j if j < i else -1 for j in range(d)] for i in range(d)]
    return [random.normal(size=k), random.uniform(size=(k, d)), random.normal(size=(k, d * (d + 1) // 2)),
            random.normal(size=(n, d)), places]


def lse(xp, x):
    return xp.logsumexp(x, 0)


def lse_data(random, label):
    return [random.normal(size=int(label.lstrip("n")))]


def llsq(xp, x, t, s):
    fitted = xp.zeros_like(t)
    for i in range(len(x)):
        fitted = fitted * t + x[len(x) - 1 - i]
    return 0.5 * ((s - fitted) ** 2).sum()


def llsq_data(random, label):
    m, n = (int(word[1:]) for word in label.split())
    t = [-1 + 2 * i / (n - 1) for i in range(n)]
    return [random.normal(size=m), t, [float((x > 0) - (x < 0)) for x in t]]


def kmeans(xp, centroids, points):
    squares = (points ** 2).sum(1)[:, None] + (centroids ** 2).sum(1) - 2 * points @ centroids.T
    return xp.amin(squares, 1).sum()


def kmeans_data(random, label):
    k, n, d = (int(word[1:]) for word in label.split())
    points = random.uniform(size=(n, d))
    return [points[:: n // k][:k], points]


def lstm(xp, weights, extra, state, text):
    def step(carry, now):
        x, carried = now * extra[0], []
        for layer in range(len(weights)):
            w, b, h, c = weights[layer][0], weights[layer][1], carry[2 * layer], carry[2 * layer + 1]
            c = c * xp.sigmoid(x * w[0] + b[0]) + xp.sigmoid(h * w[1] + b[1]) * xp.tanh(h * w[3] + b[3])
            x = xp.sigmoid(x * w[2] + b[2]) * xp.tanh(c)
            carried += [x, c]
        return carried, x * extra[1] + extra[2]

    y = xp.scan(step, [row for layer in state for row in layer], text[:-1])
    return (text[1:] * (xp.log(2 + xp.exp(y).sum(1, keepdims=True)) - y)).mean()


def lstm_data(random, label):
    layers, count = (int(word[1:]) for word in label.split())
    return [random.uniform(-1, 1, (layers, 2, 4, BITS)), random.uniform(-1, 1, (3, BITS)),
            random.uniform(-1, 1, (layers, 2, BITS)), random.integers(0, 2, (count, BITS)).astype(float)]


def ba(xp, parameters, feature):
    r, y = parameters[:3], parameters[11:14] - parameters[3:6]
    square = (r * r).sum()
    angle = xp.sqrt(square)
    around = xp.stack([r[1] * y[2] - r[2] * y[1], r[2] * y[0] - r[0] * y[2], r[0] * y[1] - r[1] * y[0]])
    along = (1 - xp.cos(angle)) / square * (r * y).sum()
    turned = xp.cos(angle) * y + xp.sin(angle) / angle * around + along * r
    p = turned[:2] / turned[2]
    square = (p * p).sum()
    scale = parameters[6] * (1 + square * (parameters[9] + square * parameters[10]))
    return parameters[14] * (scale * p + parameters[7:9] - feature)


def ba_data(random, label):
    n = int(label.split("/")[2])
    scale = [0.3, 0.3, 0.3, 1, 1, 1, 20, 5, 5, 0.01, 0.001, 3, 3, 3, 0.3]
    centre = [0.01, 0.02, 0.03, 0, 0, 0, 500, 320, 240, 0, 0, 0, 0, 6, 0.5]
    return [random.normal(size=(n, 15)) * 0.3 * scale + centre, random.uniform(0, 500, (n, 2))]


def gradient(*argnums):
    return lambda t, f: t.grad(f, argnums)


def gradient_and_diagonal(t, f):
    first = t.grad(f, (0,))
    return lambda c, *rest: t.jvp(lambda at: first(at, *rest)[0], (c,), (c * 0 + 1,))


# name: function, data, objective and derivative (of the transforms t and the function), sizes
PROBLEMS = {
    "gmm": (gmm, gmm_data, lambda t, f: f, gradient(0, 1, 2), ("d10 k25 n1000", "d32 k50 n1000", "d64 k25 n1000")),
    "ba": (ba, ba_data, lambda t, f: t.vmap(f), lambda t, f: t.vmap(t.jacrev(f)), ("49/7776/31843",)),
    "lstm": (lstm, lstm_data, lambda t, f: f, gradient(0, 1), ("l2 c1024", "l4 c1024")),
    "lse": (lse, lse_data, lambda t, f: f, gradient(0), ("n10000", "n1000000")),
    "llsq": (llsq, llsq_data, lambda t, f: f, gradient(0), ("m16 n4096", "m128 n4096")),
    "kmeans": (kmeans, kmeans_data, lambda t, f: f, gradient_and_diagonal, ("k10 n10000 d8", "k50 n10000 d16")),
}


# ---- the packages -------------------------------------------------------------------------------------------------

def with_jax():
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platforms", "cpu")

    def scan(step, carry, rows):
        return jax.lax.scan(step, carry, rows)[1]

    names = ("concatenate", "exp", "log", "sin", "cos", "tanh", "sqrt", "einsum", "zeros_like", "stack", "amin")
    xp = SimpleNamespace(**{name: getattr(jnp, name) for name in names}, scan=scan, sigmoid=jax.nn.sigmoid,
                         logsumexp=jax.scipy.special.logsumexp)

    def prepared(make, f):
        compiled = jax.jit(make(jax, f))
        return lambda *x: jax.block_until_ready(compiled(*x))

    return xp, jnp.asarray, prepared


def with_torch():
    import torch
    from torch import func

    torch.set_num_threads(1)

    def scan(step, carry, rows):
        out = []
        for row in rows:
            carry, y = step(carry, row)
            out.append(y)
        return torch.stack(out)

    names = ("concatenate", "exp", "log", "sin", "cos", "tanh", "sqrt", "einsum", "zeros_like", "stack", "amin",
             "sigmoid", "logsumexp")
    xp = SimpleNamespace(**{name: getattr(torch, name) for name in names}, scan=scan)
    return xp, torch.as_tensor, lambda make, f: make(func, f)


def median_us(work, inputs, seconds):
    work(*inputs)
    times, start = [], time.perf_counter()
    while len(times) < 3 or time.perf_counter() - start < seconds:
        began = time.process_time_ns()
        work(*inputs)
        times.append((time.process_time_ns() - began) / 1e3)
    return statistics.median(times)


def lamina(program, problem, size, seconds):
    command = [program, "--json", "--problem", problem, "--size", size, "--seconds", str(seconds)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)[0]


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    seconds, peers = float(sys.argv[2]) if len(sys.argv) == 3 else 0.5, {}
    for name, package in (("jax.jit", with_jax), ("torch", with_torch)):
        try:
            peers[name] = package()
        except ImportError as absent:
            print(f"not installed: {absent.name}")
    if not peers:
        sys.exit("nothing to compare with")
    import numpy  # both packages need it

    print("CPU microseconds, and how many times Lamina's they are")
    print(f"{'':<36}{'lamina':>11}{'by hand':>11}" + "".join(f"{name:>12}{'ratio':>7}" for name in peers))
    for problem, (f, data, objective, derivative, sizes) in PROBLEMS.items():
        for size in sizes:
            own = lamina(sys.argv[1], problem, size, seconds)
            inputs = data(numpy.random.default_rng(20261121), size)
            for label, make in (("objective", objective), ("derivative", derivative)):
                us = own["of_" + label]["lamina_us"]
                row = f"{problem + ' ' + size:<25}{label:<11}{us:>11.1f}{own['of_' + label]['by_hand_us']:>11.1f}"
                for xp, array, prepared in peers.values():
                    work = prepared(make, lambda *x: f(xp, *x))
                    other = median_us(work, [array(numpy.asarray(x)) for x in inputs], seconds)
                    row += f"{other:>12.1f}{other / us:>7.2f}"
                print(row, flush=True)


if __name__ == "__main__":
    main()

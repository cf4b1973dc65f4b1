"""The problems of gradbench as functions of a package xp (jax.numpy or torch, peers.py), written once for both in the
way that is usual there, and their inputs, drawn with the distributions of the driver: how long a problem takes does
not depend on them. Shapes, and what is computed: the C file of the problem's name."""

from itertools import combinations

import numpy

BITS = 14  # of a character in lstm


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

    y = xp.scan(step, [row for layer in state for row in layer], text[:-1])[1]
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


def euler(xp, angles):
    (a, b, c), (x, y, z) = xp.cos(angles).T, xp.sin(angles).T
    rows = [[c * b, c * y * x - z * a, c * y * a + z * x], [z * b, z * y * x + c * a, z * y * a - c * x],
            [-y, b * x, b * a]]
    return xp.stack([xp.stack(row, -1) for row in rows], -2)


def ht(xp, parameters, angle_of, base, step, inverse, weights, vertices, points):
    r = parameters[:3]
    angle = xp.sqrt((r * r).sum())
    none = angle * 0
    k = xp.stack([xp.stack(row) for row in ([none, -r[2], r[1]], [r[2], none, -r[0]], [-r[1], r[0], none])]) / angle
    whole = xp.sin(angle) * k + (1 - xp.cos(angle)) * k @ k + xp.array(numpy.eye(3))
    turned = base @ euler(xp, xp.concatenate([parameters[6:], parameters[:1] * 0])[angle_of])
    rotation, place = [], []  # from the frame of each bone to that of the hand
    for b in range(len(base)):
        up = b - 1 if b < 2 or (b - 2) % 4 else 1
        place.append(rotation[up] @ step[b] + place[up] if b else step[b])
        rotation.append(rotation[up] @ turned[b] if b else turned[b])
    maps = xp.concatenate([xp.stack(rotation), xp.stack(place)[:, :, None]], 2) @ inverse
    return points - xp.einsum("vb,bij,vj->vi", weights, maps, vertices) @ whole.T - parameters[3:6]


def ht_data(random, label):
    n, bones, angles = int(label.split()[1]), 22, 20
    angle_of, weights, inverse = numpy.full((bones, 3), angles), numpy.zeros((n, bones)), numpy.zeros((bones, 4, 4))
    for angle in range(angles):  # four of a finger: two axes of its first joint, one of the next two
        angle_of[2 + angle // 4 * 4 + max(angle % 4 - 1, 0), int(angle % 4 == 1)] = angle
    for row in weights:
        row[(random.integers(bones) + 5 * numpy.arange(4)) % bones] = [0.1, 0.2, 0.3, 0.4]
    inverse[:, :3], inverse[:, 3, 3] = random.normal(size=(bones, 3, 4)), 1
    vertices = numpy.concatenate([random.normal(size=(n, 3)), numpy.ones((n, 1))], 1)
    return [random.uniform(-0.6, 0.6, 26), angle_of, random.uniform(-1, 1, (bones, 3, 3)),
            random.uniform(0.1, 0.6, (bones, 3)), inverse, weights, vertices, random.normal(size=(n, 3))]


def det(xp, a):
    minors, place = a[:, 0, :1] * 0 + 1, {(): 0}
    for r in range(1, a.shape[1] + 1):
        sets = list(combinations(range(a.shape[1]), r))
        rest = xp.array([[place[s[:i] + s[i + 1:]] for i in range(r)] for s in sets])
        signs = xp.array([(-1.0) ** (r - 1 + i) for i in range(r)])
        minors = (a[:, r - 1, xp.array(sets)] * signs * minors[:, rest]).sum(2)
        place = {s: i for i, s in enumerate(sets)}
    return minors[:, 0]


def det_data(random, label):
    n, matrices = (int(word[1:]) for word in label.split())
    return [random.normal(size=(matrices, n, n))]


def ode(xp, x, steps):
    h, one = 2 / len(steps), x[:1] * 0 + 1

    def slope(y):
        return x * xp.concatenate([one, y[:-1]])

    def step(y, _):
        k1 = slope(y)
        k2 = slope(y + h / 2 * k1)
        k3 = slope(y + h / 2 * k2)
        return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + slope(y + h * k3)), y[0]

    return xp.scan(step, x * 0, steps)[0]


def ode_data(random, label):
    n, steps, systems = (int(word[1:]) for word in label.split())
    return [random.uniform(0.5, 1.5, (systems, n)), numpy.zeros(steps)]


def saddle_f(x, y):
    return (x * x).sum() - (y * y).sum()


def ascend(xp, x, y):
    for _ in range(12):
        y = y + 0.2 * xp.grad(saddle_f, 1)(x, y)
    return y


def saddle(xp, start):
    return saddle_f(start, ascend(xp, start, start))


def descend(xp, start):
    x = start
    for _ in range(12):
        x = x - 0.2 * xp.grad(lambda at: saddle_f(at, ascend(xp, at, start)))(x)
    return xp.concatenate([x, ascend(xp, x, start)])


def saddle_data(random, label):
    return [random.normal(size=(int(label[1:]), 2))]


def particle(xp, w, steps):
    def potential(x, y):
        return -1 / xp.sqrt((x - 10) ** 2 + y ** 2) - 1 / xp.sqrt((x - 10) ** 2 + (y - (10 - w)) ** 2)

    def step(state, _):
        (x, y, u, v), last = state
        force, after = xp.grad(potential, (0, 1))(x, y), y + 0.25 * v
        crosses = (y > 0) & (after <= 0)
        last = [xp.where(crosses, now, before) for now, before in zip((x, y, u, v), last)]
        return ((x + 0.25 * u, after, u - 0.25 * force[0], v - 0.25 * force[1]), last), x

    none = w * 0
    (_, (x, y, u, v)), _ = xp.scan(step, ((none, none + 8, none + 0.75, none), [none, none, none, none - 1]), steps)
    return (x - y / v * u) ** 2


def particle_data(random, label):
    return [random.uniform(-1, 1, int(label[1:])), numpy.zeros(160)]


def gradient(*argnums):
    return lambda t, f: t.grad(f, argnums)


def each(t, f):
    return t.vmap(f)


def each_of_first(t, f):
    return t.vmap(f, (0, None))


def whole(t, f):
    return f


def gradient_and_diagonal(t, f):
    first = t.grad(f, (0,))
    return lambda c, *rest: t.jvp(lambda at: first(at, *rest)[0], (c,), (c * 0 + 1,))


def gradients_of_last(t, f):
    return t.vmap(t.grad(lambda x, steps: f(x, steps)[-1]), (0, None))


def slopes(t, f):
    return t.vmap(lambda w, steps: t.jvp(lambda at: f(at, steps), (w,), (w * 0 + 1,))[1], (0, None))


# name: function, data, objective and derivative (of the transforms t and the function), sizes
PROBLEMS = {
    "gmm": (gmm, gmm_data, whole, gradient(0, 1, 2), ("d10 k25 n1000", "d32 k50 n1000", "d64 k25 n1000")),
    "ba": (ba, ba_data, each, lambda t, f: t.vmap(t.jacrev(f)), ("49/7776/31843",)),
    "lstm": (lstm, lstm_data, whole, gradient(0, 1), ("l2 c1024", "l4 c1024")),
    "ht": (ht, ht_data, whole, lambda t, f: t.jacfwd(f), ("simple 544", "simple 10000")),
    "lse": (lse, lse_data, whole, gradient(0), ("n10000", "n1000000")),
    "llsq": (llsq, llsq_data, whole, gradient(0), ("m16 n4096", "m128 n4096")),
    "kmeans": (kmeans, kmeans_data, whole, gradient_and_diagonal, ("k10 n10000 d8", "k50 n10000 d16")),
    "det": (det, det_data, whole, lambda t, f: t.grad(lambda a: f(a).sum()), ("n8 x1", "n6 x1000", "n10 x100")),
    "ode": (ode, ode_data, each_of_first, gradients_of_last, ("n100 s20 x1", "n20 s20 x1000", "n100 s100 x100")),
    "saddle": (saddle, saddle_data, each, lambda t, f: t.vmap(lambda x: descend(t.xp, x)), ("x1", "x1000")),
    "particle": (particle, particle_data, each_of_first, slopes, ("x1", "x1000")),
}

"""Paths, flow maps and dispersion by NumPy, as an oracle that shares no code with the service.

Reads JSON from standard input: the raw float32 velocity of a cube with period 2 pi, its frames, and tasks. Prints the answers.
"""

import json
import sys
from math import factorial

import numpy as np


class Flow:
    """A velocity on a periodic cube between frames: a product of polynomials in space, a cubic of four frames in time."""

    def __init__(self, given):
        n = given["nodes"]
        self.n, self.h = n, 2 * np.pi / n
        self.origin, self.step = given["origin"], given["step"]
        self.frames = np.fromfile(given["velocity"], "<f4").reshape([-1, n, n, n, 3]).astype(float)

    def at(self, t):
        """The nodes at a time: a Hermite cubic with centred slopes."""
        s = (t - self.origin) / self.step
        k = int(np.floor(s + 1e-9))
        s -= k
        before, here, there, after = self.frames[k - 1 : k + 3] if abs(s) > 1e-9 else [self.frames[k]] * 4
        m0, m1 = (there - before) / 2, (after - here) / 2
        if abs(s) <= 1e-9:
            return here
        return (
            (2 * s**3 - 3 * s**2 + 1) * here
            + (s**3 - 2 * s**2 + s) * m0
            + (3 * s**2 - 2 * s**3) * there
            + (s**3 - s**2) * m1
        )


def lagrange(order):
    """Weights of the nodes 1 - order/2 .. order/2 as polynomials of the fraction, highest power first."""
    nodes = np.arange(1 - order // 2, order // 2 + 1)
    out = []
    for i in nodes:
        others = nodes[nodes != i]
        out.append(np.poly(others) / np.prod(i - others))
    return nodes, out


def hermite(m, q):
    """The spline of degree 2m + 1 through q nodes: derivatives up to m at both ends by centred differences."""
    half = q // 2
    nodes = np.arange(1 - half, half + 1)
    offsets = np.arange(1 - half, half)
    powers = np.vander(offsets.astype(float), len(offsets), increasing=True).T
    # Rows: the derivative of order d at a node, from its neighbours.
    stencils = [np.linalg.solve(powers, [factorial(d) if j == d else 0 for j in range(len(offsets))]) for d in range(m + 1)]
    degree = 2 * m + 1
    conditions = np.zeros((degree + 1, degree + 1))
    values = np.zeros((degree + 1, q))
    for end in (0, 1):
        for d in range(m + 1):
            row = end * (m + 1) + d
            for power in range(d, degree + 1):
                conditions[row, power] = factorial(power) / factorial(power - d) * (end ** (power - d))
            values[row, end : end + len(offsets)] = stencils[d]
    return nodes, list(np.linalg.solve(conditions, values).T[:, ::-1])


def gather(flow, nodes, places, weights):
    """Sums nodes times weights along x, y, z."""
    cell = np.floor(places / flow.h).astype(int)
    fraction = places / flow.h - cell
    index = [(cell[:, a, None] + weights["nodes"]) % flow.n for a in range(3)]
    cube = nodes[index[2][:, :, None, None], index[1][:, None, :, None], index[0][:, None, None, :]]
    w = [[np.stack([np.polyval(p, fraction[:, a]) for p in kind], 1) for kind in weights["by"]] for a in range(3)]

    def product(dx, dy, dz):
        return np.einsum("pzyxc,pz,py,px->pc", cube, w[2][dz], w[1][dy], w[0][dx], optimize=True)

    return product


def scheme(name):
    nodes, by = lagrange(int(name[3:])) if name.startswith("Lag") else hermite(int(name[1]), int(name[3:]))
    return {"nodes": nodes, "by": [by, [np.polyder(p) for p in by]]}


def velocity_of(flow, name):
    weights = scheme(name)
    return lambda places, t: gather(flow, flow.at(t), places, weights)(0, 0, 0)


def gradient_of(flow, name):
    """A[p, i, j] = du_i / dx_j: of the spline, or of Lag4 through differences of order 4 at the nodes."""
    if name == "Fd4Lag4":
        weights = scheme("Lag4")

        def difference(nodes, axis):
            roll = lambda k: np.roll(nodes, -k, axis)
            return (8 * (roll(1) - roll(-1)) - (roll(2) - roll(-2))) / (12 * flow.h)

        def gradient(places, t):
            nodes = flow.at(t)
            return np.stack([gather(flow, difference(nodes, 2 - a), places, weights)(0, 0, 0) for a in range(3)], 2)

        return gradient
    weights = scheme(name)

    def slopes(places, t):
        product = gather(flow, flow.at(t), places, weights)
        return np.stack([product(*[int(a == b) for b in range(3)]) for a in range(3)], 2) / flow.h

    return slopes


def rk4(rate, state, start, step, count, record=lambda k, state: None):
    record(0, state)
    for k in range(count):
        t = start + k * step
        k1 = rate(state, t)
        k2 = rate(state + step / 2 * k1, t + step / 2)
        k3 = rate(state + step / 2 * k2, t + step / 2)
        k4 = rate(state + step * k3, t + step)
        state = state + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        record(k + 1, state)
    return state


def ends(flow, task, points):
    """Where points are after many steps."""
    step = (task["end"] - task["start"]) / task["count"]
    return rk4(velocity_of(flow, task["method"]), points, task["start"], step, task["count"]).tolist()


def flow_map(flow, task, points):
    """F of each point, by dF/dt = A F."""
    velocity, gradient = velocity_of(flow, task["method"]), gradient_of(flow, task["derivatives"])

    def rate(state, t):
        places, F = state[:, :3], state[:, 3:].reshape(-1, 3, 3)
        return np.concatenate([velocity(places, t), (gradient(places, t) @ F).reshape(-1, 9)], 1)

    start = np.concatenate([points, np.tile(np.eye(3).ravel(), (len(points), 1))], 1)
    step = (task["end"] - task["start"]) / task["count"]
    F = rk4(rate, start, task["start"], step, task["count"])[:, 3:].reshape(-1, 3, 3)
    return {"gradient": F.tolist(), "volume": np.median(np.abs(np.linalg.det(F) - 1))}


def dispersion(flow, task, points):
    """Means over paths of tetrads, and over the pairs of their first and second particle."""
    velocity = velocity_of(flow, task["method"])
    places = []
    step = (task["end"] - task["start"]) / task["count"]
    rk4(velocity, points, task["start"], step, task["count"], lambda k, x: places.append(x.copy()))
    x = np.array(places[:: task["every"]])
    u = np.array([velocity(x[r], task["start"] + r * task["every"] * step) for r in range(len(x))])
    square = (u * u).sum(2).mean(1)
    v = u - u.mean(1, keepdims=True)
    product, energy = (v * v[0]).sum(2).mean(1), (v * v).sum(2).mean(1)
    tetrads = x.reshape(len(x), -1, 4, 3)
    offsets = tetrads - tetrads.mean(2, keepdims=True)
    moments = np.einsum("rtka,rtkb->rtab", offsets, offsets)
    pairs = x.reshape(len(x), -1, 2, 3)
    apart = np.linalg.norm(pairs[:, :, 1] - pairs[:, :, 0], axis=2)
    return {
        "meanSquare": ((x - x[0]) ** 2).sum(2).mean(1).tolist(),
        "meanSquareAxes": ((x - x[0]) ** 2).mean(1).tolist(),
        "velocitySquare": square.tolist(),
        "autocorrelation": (product / np.sqrt(energy * energy[0])).tolist(),
        "separation": {str(order): (apart**order).mean(1).tolist() for order in task["orders"]},
        "eigenvalues": np.linalg.eigvalsh(moments)[:, :, ::-1].mean(1).tolist(),
    }


TASKS = {"ends": ends, "flowMap": flow_map, "dispersion": dispersion}
given = json.load(sys.stdin)
flow = Flow(given)
points = np.array(given["points"])
json.dump([TASKS[task["task"]](flow, task, points) for task in given["tasks"]], sys.stdout)

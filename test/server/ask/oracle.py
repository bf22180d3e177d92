"""Operators, means, spectra and distributions by NumPy of whole arrays, as an oracle that shares no code with the service.

Reads JSON from standard input: a grid with raw float32 fields and coordinates of nodes, and requests, each a Python
expression of `g`, the grid. Prints the answers. Arrays are [t, z, y, x] in float64; vectors are lists of three of them.
"""

import json
import sys

import numpy as np


def rows(at, period, derivative):
    """The matrix of a derivative: five nodes; of the second one six where the grid is tabulated or at an open
    end, two below a node of the lower half and three below one of the upper half."""
    n = len(at)
    out = np.zeros((n, n))
    steps = np.diff(at)
    uniform = np.ptp(steps) < 1e-9 * steps[0]
    for i in range(n):
        centred = period is not None or (uniform and 2 <= i < n - 2)
        count = 5 if centred or derivative == 1 else 6
        first = i - 2 if count == 5 or i < n // 2 else i - 3
        if period is None:
            first = min(max(first, 0), n - count)
        nodes = np.arange(first, first + count)
        places = at[nodes % n] + (period or 0) * (nodes // n) - at[i]
        scale = np.abs(places).max()
        powers = np.vander(places / scale, count, increasing=True).T
        right = np.zeros(count)
        right[derivative] = [1, 1, 2][derivative]
        out[i, nodes % n] += np.linalg.solve(powers, right) / scale**derivative
    return out


class Grid:
    def __init__(self, data):
        self.at = [np.array(axis) for axis in data["axes"]]
        shape = [len(axis) for axis in data["axes"]][::-1]
        n = data["frames"]
        u = np.fromfile(data["velocity"], "<f4").reshape([-1, *shape, 3])[:n].astype(float)
        self.u = [u[..., c] for c in range(3)]
        self.p = np.fromfile(data["pressure"], "<f4").reshape([-1, *shape])[:n].astype(float)
        self.times = np.array(data["times"])
        self.nu = data["nu"]
        self.z, self.y, self.x = (a[None] for a in np.meshgrid(*self.at[::-1], indexing="ij"))
        self.first = [rows(at, period, 1) for at, period in zip(self.at, data["periods"])]
        self.second = [rows(at, period, 2) for at, period in zip(self.at, data["periods"])]
        self.periods = data["periods"]
        self.w = [np.array(w) for w in data["weights"]]
        wx, wy, wz = self.w
        self.weight = np.ones(self.p.shape) * wz[:, None, None] * wy[:, None] * wx

    def along(self, f, matrix, axis):
        """A matrix along an axis; NaN spreads to nodes whose stencil holds it."""
        moved = np.moveaxis(f, 3 - axis, 0)
        out = np.tensordot(matrix, np.where(np.isnan(moved), 0.0, moved), 1)
        used = (np.abs(matrix) > 1e-9 * np.abs(matrix).max()).astype(float)
        out[np.tensordot(used, np.isnan(moved).astype(float), 1) > 0] = np.nan
        return np.moveaxis(out, 0, 3 - axis)

    def d(self, f, axis):
        return self.along(f, self.first["xyz".index(axis)], "xyz".index(axis))

    def d2(self, f, axis):
        return self.along(f, self.second["xyz".index(axis)], "xyz".index(axis))

    def grad(self, f):
        return [self.d(f, a) for a in "xyz"]

    def div(self, v):
        return sum(self.d(v[a], "xyz"[a]) for a in range(3))

    def curl(self, v):
        return [self.d(v[(a + 2) % 3], "xyz"[(a + 1) % 3]) - self.d(v[(a + 1) % 3], "xyz"[(a + 2) % 3]) for a in range(3)]

    def lap(self, f):
        return sum(self.d2(f, a) for a in "xyz")

    def dot(self, a, b):
        return sum(x * y for x, y in zip(a, b))

    def ddt(self, f):
        out = np.empty_like(f)
        n, t = len(self.times), self.times
        for k in range(n):
            i = [min(max(k - 1, 0), n - 3) + m for m in range(3)]
            # The slope at t_k of the parabola through three frames.
            powers = np.vander(t[i] - t[k], 3, increasing=True).T
            w = np.linalg.solve(powers, [0, 1, 0])
            out[k] = sum(w[m] * f[i[m]] for m in range(3) if abs(w[m]) > 1e-12 * np.abs(w).max())
        return out

    def shift(self, f, axis, by):
        """Values `by` nodes further along an axis; unknown beyond open ends."""
        at = "tzyx".index(axis)
        out = np.roll(f, -by, at)
        if self.periods["xyz".index(axis)] is None:
            n = f.shape[at]
            gone = (np.arange(n) + by < 0) | (np.arange(n) + by >= n)
            out = np.where(gone.reshape([-1 if d == at else 1 for d in range(4)]), np.nan, out)
        return out

    def mean(self, f, over):
        """The mean over some directions, by the weights of nodes, where f is known."""
        f = np.broadcast_to(f, self.p.shape)
        axes = tuple("tzyx".index(o) for o in over)
        w = np.where(np.isnan(f), 0.0, self.weight)
        with np.errstate(invalid="ignore"):
            return (np.where(np.isnan(f), 0.0, f) * w).sum(axes, keepdims=True) / w.sum(axes, keepdims=True) + np.zeros(self.p.shape)

    def gaussian(self, f, width, axes="xyz"):
        """exp(-k^2 D^2/24) along periodic axes."""
        for a in axes:
            n = len(self.at["xyz".index(a)])
            k = 2 * np.pi * np.fft.fftfreq(n, self.periods["xyz".index(a)] / n)
            shape = [-1 if "tzyx"[b] == a else 1 for b in range(4)]
            factor = np.exp(-((k * width) ** 2) / 24).reshape(shape)
            f = np.fft.ifft(np.fft.fft(f, axis="tzyx".index(a)) * factor, axis="tzyx".index(a)).real
        return f

    def line(self, f, axis, over):
        """One-sided spectrum along an axis, averaged over directions: mode 0 and Nyquist once, others twice."""
        return self.pair(f, f, axis, over)[0]

    def pair(self, a, b, axis, over):
        """Real and imaginary part of <conj(A) B>, one-sided along an axis."""
        at = "tzyx".index(axis)
        n = a.shape[at]
        C = np.conj(np.fft.rfft(a, axis=at) / n) * (np.fft.rfft(b, axis=at) / n)
        twice = np.full(n // 2 + 1, 2.0)
        twice[0] = 1
        if n % 2 == 0:
            twice[-1] = 1
        C = C * twice.reshape([-1 if d == at else 1 for d in range(4)])
        axes = tuple("tzyx".index(o) for o in over)
        w = self.weight.take([0], at) / self.weight.take([0], at).sum(axes, keepdims=True)
        C = (C * w).sum(axes)
        return C.real, C.imag

    def modes(self, f):
        """E(k_z, k_x) at each y, averaged over t: one-sided along x."""
        n, m = f.shape[3], f.shape[1]
        U = np.fft.fft(np.fft.rfft(f, axis=3) / n, axis=1) / m
        twice = np.full(n // 2 + 1, 2.0)
        twice[0] = 1
        if n % 2 == 0:
            twice[-1] = 1
        return (np.abs(U) ** 2 * twice).mean(0).transpose(1, 0, 2)

    def correlation(self, a, b, axis, over):
        """<a(x) b(x + r)>, circular along an axis, by shifting."""
        at = "tzyx".index(axis)
        axes = tuple("tzyx".index(o) for o in over) + (at,)
        w = self.weight / self.weight.sum(axes, keepdims=True)
        return np.stack([(w * a * np.roll(b, -r, at)).sum(axes) for r in range(a.shape[at])], -1)


def main():
    given = json.load(sys.stdin)
    answers = []
    for data in given["grids"]:
        g = Grid(data["grid"])
        names = {**vars(g), **{n: getattr(g, n) for n in dir(g) if not n.startswith("_")}, "np": np, "g": g}
        with np.errstate(all="ignore"):
            answers.append([np.asarray(eval(text, names), float).tolist() for text in data["requests"]])
    json.dump(answers, sys.stdout)


main()

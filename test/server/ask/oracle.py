"""Operators, means, spectra and distributions by NumPy of whole arrays, as an oracle that shares no code with the service.

Reads JSON from standard input: a grid with raw float32 fields and coordinates of nodes, and requests, each a Python
expression of `g`, the grid, or such an expression with the region, frames and directions of its means. Prints the
answers. Arrays are [t, z, y, x] in float64; vectors are lists of three of them.
"""

import itertools
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

    def ask(self, box=None, frames=None, over="xyzt", kept=()):
        """Sets the region, the frames and the directions of the next request, and coordinates that go on past seams."""
        n = self.p.shape
        box = box or [[0, n[3 - a]] for a in range(3)]
        self.inside = [np.arange(n[0]) if frames is None else np.array(frames)]
        self.inside += [np.arange(first, first + count) % n[3 - a] for a, (first, count) in list(enumerate(box))[::-1]]
        self.over, self.kept = over, ["tzyx".index(one) for one in kept]
        ahead = [np.where(np.arange(n[3 - a]) < first + count - n[3 - a], self.periods[a] or 0, 0) for a, (first, count) in enumerate(box)]
        self.z, self.y, self.x = (a[None] for a in np.meshgrid(*[at + more for at, more in zip(self.at, ahead)][::-1], indexing="ij"))

    def mean(self, f, over=None):
        """The mean over some directions of the region, by the weights of nodes, where f is known."""
        f = np.broadcast_to(f, self.p.shape)
        axes = tuple("tzyx".index(o) for o in over or self.over)
        w = np.where(np.isnan(f), 0.0, self.weight)
        f = np.where(np.isnan(f), 0.0, f)
        for a in axes:
            f, w = (np.take(one, self.inside[a], a) for one in (f, w))
        with np.errstate(invalid="ignore"):
            return (f * w).sum(axes, keepdims=True) / w.sum(axes, keepdims=True) + np.zeros(self.p.shape)

    def fluc(self, f):
        return f - self.mean(f)

    def choose(self, test, a, b):
        return np.where(np.isnan(test), np.nan, np.where(test != 0, a, b))

    def above(self, a, b):
        return np.where(np.isnan(a + b), np.nan, (a > b).astype(float))

    def region(self, f):
        return np.broadcast_to(f, self.p.shape)[np.ix_(*self.inside)]

    def groups(self, columns):
        """The values of columns and the weights in each group of nodes along the directions that are kept."""
        columns = [self.region(one) for one in columns]
        weight = self.region(self.weight)
        for place in itertools.product(*[range(weight.shape[a]) if a in self.kept else [0] for a in range(4)]):
            index = tuple(place[a] if a in self.kept else slice(None) for a in range(4))
            yield [one[index].ravel() for one in columns], weight[index].ravel()

    def plane(self, f, axis, node):
        """The values at a node of an axis, at all of its nodes."""
        return f.take([node], "tzyx".index(axis)) + np.zeros(self.p.shape)

    def folded(self, kind, signs, *columns):
        """The groups of the lower half along y, each with the values of its mirror image times their signs."""
        n, groups = self.p.shape[2], list(self.groups(columns))
        found = []
        for j in range((n + 1) // 2):
            (own, w), (other, v) = groups[j], groups[n - 1 - j]
            found.append(reduce(kind, [np.append(a, s * b) for s, a, b in zip(signs, own, other)], np.append(w, v)))
        return {name: [one[name] for one in found] for name in found[0] if name not in ("count", "missing")}

    def errors(self, f, by):
        """Standard errors of the mean and the variance over blocks of frames: of the series, and by the jackknife."""
        out = []
        for (values,), w in self.groups([f]):
            frames = len(self.inside[0])
            parts = list(zip(np.split(values, frames), np.split(w, frames)))
            blocks = [cat(parts[b : b + by]) for b in range(0, frames - by + 1, by)]
            means, variances = zip(*[pooled(block) for block in blocks])
            n, k = effective(means), effective(variances)
            b = int(np.ceil(len(blocks) / k))
            some = [cat(blocks[i : i + b]) for i in range(0, len(blocks) - b + 1, b)]
            m = len(some)
            without = [pooled(cat(some[:i] + some[i + 1 :]))[1] for i in range(m)]
            out.append([
                np.std(means, ddof=1) / np.sqrt(n) if n >= 5 else np.nan,
                np.sqrt((m - 1) / m * np.sum((without - np.mean(without)) ** 2)) if k >= 5 else np.nan,
            ])  # fmt: skip
        return {"mean_se": [one[0] for one in out], "variance_se": [one[1] for one in out]}

    def reduced(self, kind, *columns, **options):
        """The members of a reduction, each a list with an element for each group."""
        found = [reduce(kind, own, weight, **options) for own, weight in self.groups(columns)]
        return {name: [one[name] for one in found] for name in found[0]}

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
        C = np.moveaxis((C * w).sum(axes, keepdims=True), at, -1)
        C = C.squeeze(tuple("tzyx".replace(axis, "").index(o) for o in over))
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

    def segments(self, f, length, step, window, detrend):
        """Segments in time, each less its mean or line, times its window over the root of the mean of its square."""
        j = np.arange(length)
        w = (1 - np.cos(2 * np.pi * j / length)) / 2 if window == "hann" else np.ones(length)
        fit = np.vander(j, {"none": 0, "constant": 1, "linear": 2}[detrend])
        less = np.eye(length) - fit @ np.linalg.pinv(fit) if fit.shape[1] else np.eye(length)
        for first in range(0, len(f) - length + 1, step):
            yield np.tensordot(less * w[:, None], f[first : first + length], 1) / np.sqrt(np.mean(w**2))

    def frequencies(self, a, b, over, length, step, window, detrend):
        """<conj(A) B> by frequency, one-sided, averaged over segments and directions; the frequency last."""
        # A node that is unknown at any time is left out.
        a, b = (np.where(np.isnan(a + b).any(0), np.nan, one) for one in (a, b))
        C = np.mean([
            np.conj(np.fft.rfft(s, axis=0) / length) * (np.fft.rfft(r, axis=0) / length)
            for s, r in zip(*(self.segments(one, length, step, window, detrend) for one in (a, b)))
        ], 0)  # fmt: skip
        j = np.arange(len(C))
        C *= np.where((j == 0) | (2 * j == length), 1, 2)[:, None, None, None]
        return np.moveaxis(self.averaged(C, over), 0, -1)

    def averaged(self, C, over):
        """A mean over directions by the weights of known nodes."""
        axes = tuple("tzyx".index(o) for o in over)
        known = ~np.isnan(C).any(0, keepdims=True)
        w = known * self.weight[:1]
        return ((np.where(known, C, 0) * w).sum(axes, keepdims=True) / w.sum(axes, keepdims=True)).squeeze(axes)

    def waves(self, f, axis, over, length, step, window, detrend):
        """|sum u exp(-i(kx - omega t))|^2, doubled for k > 0 below the Nyquist wavenumber; [.., k, omega]."""
        at, n = "tzyx".index(axis), f.shape["tzyx".index(axis)]
        # The sign of t is that of the inverse transform, which is over the number of times.
        U = [np.fft.fft(np.fft.ifft(s, axis=0), axis=at) / n for s in self.segments(f, length, step, window, detrend)]
        E = np.mean(np.abs(U) ** 2, 0).take(np.arange(n // 2 + 1), at)
        k = np.arange(n // 2 + 1)
        E = E * np.where((k == 0) | (2 * k == n), 1, 2).reshape([-1 if d == at else 1 for d in range(4)])
        axes = tuple("tzyx".index(o) for o in over)
        w = self.weight[:1].take([0], at)
        E = np.moveaxis((E * w).sum(axes, keepdims=True) / w.sum(axes, keepdims=True), (at, 0), (-2, -1))
        return E.squeeze(tuple("tzyx".replace(axis, "").replace("t", "").index(o) for o in over))

    def convection(self, f, axis, over):
        """-arg <conj(u_k(t)) u_k(t + dt)>/(k dt) at each wavenumber above 0."""
        at = "tzyx".index(axis)
        U = np.fft.rfft(f, axis=at)
        axes = (0, *("tzyx".index(o) for o in over))
        w = self.weight[:1].take([0], at)
        R = (np.conj(U[:-1]) * U[1:] * w).sum(axes)
        k = 2 * np.pi / self.periods["xyz".index(axis)] * np.arange(f.shape[at] // 2 + 1)
        return -np.angle(R)[..., 1:] / (k[1:] * (self.times[1] - self.times[0]))

    def correlation(self, a, b, axis, over):
        """<a(x) b(x + r)>, circular along an axis, by shifting."""
        at = "tzyx".index(axis)
        axes = tuple("tzyx".index(o) for o in over) + (at,)
        w = self.weight / self.weight.sum(axes, keepdims=True)
        return np.stack([(w * a * np.roll(b, -r, at)).sum(axes) for r in range(a.shape[at])], -1)

    def drawn(self, count, seed):
        """Random points by Philox4x32-10 (Salmon et al. 2011): counter (i, 0, 0, 0), the seed as key, over all periods."""
        c, key, low = [np.arange(count, dtype=np.uint64), *[np.zeros(count, np.uint64)] * 3], [seed, 0], 2**32 - 1
        for _ in range(10):
            p, q = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
            hi = [one >> np.uint64(32) for one in (p, q)]
            c = [hi[1] ^ c[1] ^ np.uint64(key[0]), q & np.uint64(low), hi[0] ^ c[3] ^ np.uint64(key[1]), p & np.uint64(low)]
            key = [(key[0] + 0x9E3779B9) & low, (key[1] + 0xBB67AE85) & low]
        return [np.float32(period * (one / 2**32)) for period, one in zip(self.periods, c)]

    def lag(self, f, at, order):
        """A frame at points, by Lagrange polynomials of four or six nodes along each periodic axis."""
        nodes = range(1 - order // 2, order // 2 + 1)
        where, by = [], []
        for a, x in enumerate(at):
            n = len(self.at[a])
            s = np.float64(x) / (self.periods[a] / n)
            i = np.floor(s).astype(int)
            t = s - i
            where.append([(i + m) % n for m in nodes])
            by.append([np.prod([(t - q) / (m - q) for q in nodes if q != m], 0) for m in nodes])
        (X, Y, Z), (wx, wy, wz) = where, by
        three = itertools.product(range(order), repeat=3)
        return np.float32(sum(f[Z[k], Y[j], X[i]] * wx[i] * wy[j] * wz[k] for k, j, i in three)).astype(float)

    def turned(self, frame, highest, orient, lags):
        """Number of events, and means of p, u and S around them in the axes of S or along omega, by offset z, y, x."""
        A = np.array([[self.d(self.u[i], "xyz"[j])[frame] for j in range(3)] for i in range(3)])
        S = (A + A.transpose(1, 0, 2, 3, 4)) / 2
        omega = np.array([A[2, 1] - A[1, 2], A[0, 2] - A[2, 0], A[1, 0] - A[0, 1]])
        size = np.sqrt((omega**2).sum(0))
        hit = size > 1.5 * np.sqrt((size**2).mean()) if highest is None else size >= np.sort(size.ravel())[-highest]
        k, j, i = np.nonzero(hit)
        places = np.stack([self.at[0][i], self.at[1][j], self.at[2][k]], -1)
        e = np.linalg.eigh(np.moveaxis(S[..., hit], -1, 0))[1]
        w = omega[:, hit].T
        inner = lambda a, b: (a * b).sum(-1, keepdims=True)
        e1, e2 = (v * np.where(inner(v, w) < 0, -1, 1) for v in (e[..., 2], e[..., 1]))
        z = w / np.sqrt(inner(w, w))
        x = e1 - inner(e1, z) * z
        x /= np.sqrt(inner(x, x))
        axes = [[e1, e2, np.cross(e1, e2)]] if orient == "strain" else [[s * x, np.cross(z, s * x), z] for s in (1, -1)]
        h = min(one[1] - one[0] for one in self.at)
        scalars = [self.p[frame], *(u[frame] for u in self.u)]
        sums = []
        for r in itertools.product(*[range(-n, n + 1) for n in lags[::-1]]):
            rows = []
            for frames in axes:
                R = np.stack(frames, 1)
                at = np.float32(places + np.einsum("nca,c->na", R, h * np.array(r[::-1]))).T
                p, *u = (self.lag(f, at, 6) for f in scalars)
                T = np.array([[self.lag(S[a, b], at, 4) for b in range(3)] for a in range(3)])
                v = np.einsum("nca,an->cn", R, np.array(u))
                t = np.einsum("nca,ndb,abn->cdn", R, R, T)
                rows.append(np.concatenate([p[None], v, t.reshape(9, -1)]).mean(1))
            sums.append(np.mean(rows, 0))
        shape = [2 * n + 1 for n in lags[::-1]]
        return {"events": len(places), "means": np.array(sums).T.reshape(13, *shape)}

    def random_pdfs(self, frame, axis, length, count, seed, bins, ends):
        """PDFs of longitudinal and of transverse increments of random pairs, counts, and counts below and above."""
        at = self.drawn(count, seed)
        a = "xyz".index(axis)
        ahead = [np.float32(np.float64(x) + length) if b == a else x for b, x in enumerate(at)]
        d = [self.lag(u[frame], ahead, 4) - self.lag(u[frame], at, 4) for u in self.u]
        found = []
        for one in (d[a], np.concatenate([d[b] for b in range(3) if b != a])):
            counts = np.histogram(one, bins, ends)[0]
            density = counts / (len(one) * (ends[1] - ends[0]) / bins)
            found.append([*density, *counts, (one < ends[0]).sum(), (one > ends[1]).sum()])
        return found

    def budget(self, name):
        """The terms of the budget of a Reynolds stress, or half of those of its trace, at each y, as they are stated."""
        M = lambda f: self.mean(f, "xzt")
        u, q = [one - M(one) for one in self.u], self.p - M(self.p)
        U = [M(one) for one in self.u]
        d = lambda f, k: self.d(f, "xyz"[k])
        three = range(3)

        def terms(i, j):
            product = u[i] * u[j]
            return {
                "dissip": M(-2 * self.nu * sum(d(u[i], k) * d(u[j], k) for k in three)),
                "produc": -sum(M(u[i] * u[k]) * d(U[j], k) + M(u[j] * u[k]) * d(U[i], k) for k in three),
                "p-strain": M(q * (d(u[i], j) + d(u[j], i))),
                "p-diff": -d(M(q * u[i]), j) - d(M(q * u[j]), i),
                "t-diff": -sum(d(M(product * u[k]), k) for k in three),
                "v-diff": self.nu * self.lap(M(product)),
                "d/dt": M((product[-1:] - product[:1]) / (self.times[-1] - self.times[0]) + 0 * self.p),
            }  # fmt: skip

        parts = [terms(i, i) for i in three] if name == "k" else [terms(*("uvw".index(one) for one in name))]
        half = 2 if name == "k" else 1
        return {term: sum(one[term] for one in parts)[0, 0, :, 0] / half for term in parts[0]}

    def around(self, f, hit, lags, frames):
        """Mean and count of f around nodes of frames, by y along a stretched axis, then offsets z, y, x; and the nodes."""
        hit = np.broadcast_to(hit, self.p.shape)[frames]
        axes = (0, 1, 3) if np.ptp(np.diff(self.at[1])) > 1e-9 else (0, 1, 2, 3)
        means, counts = [], []
        for k, j, i in itertools.product(*[range(-n, n + 1) for n in lags[::-1]]):
            e = self.shift(self.shift(self.shift(f, "x", i), "y", j), "z", k)[frames]
            w = self.weight[frames] * (hit & ~np.isnan(e))
            means.append((np.nan_to_num(e) * w).sum(axes) / w.sum(axes))
            counts.append((w > 0).sum(axes))
        return {"mean": np.stack(means, -1), "count": np.stack(counts, -1), "total": hit.sum()}

    def increments(self, axes, separations, frames, orders, bins, ends):
        """Means of powers of absolute longitudinal increments by order and separation; and PDFs and counts of both kinds."""
        means, pdfs = [], []
        for axis, n in itertools.product(axes, separations):
            a = "xyz".index(axis)
            along = self.w[a].reshape([-1 if d == 3 - a else 1 for d in range(4)])
            w = (self.weight / along)[frames]
            d = [(self.shift(u, axis, n) - u)[frames] for u in self.u]
            known = ~np.isnan(d[a])
            means.append([np.average(np.abs(d[a][known]) ** p, weights=w[known]) for p in orders])
            own = []
            for one in ([d[a]], [d[b] for b in range(3) if b != a]):
                values, weights = np.array(one).ravel(), np.array([w] * len(one)).ravel()
                counts, sums = (np.histogram(values, bins, ends, weights=by)[0] for by in (None, weights))
                total = weights[~np.isnan(values)].sum() * (ends[1] - ends[0]) / bins
                own.append([*(sums / total), *counts, (values < ends[0]).sum(), (values > ends[1]).sum()])
            pdfs.append(own)
        return {"absolute": np.array(means).T, "pdfs": pdfs}

    def open_spectra(self, a, b, axis, step, degree):
        """|A|^2, and re and im of conj(A) B, of segments of six nodes of lines, less a polynomial, by a Hann window."""
        fit = np.vander(np.arange(6), degree + 1)
        less = (np.eye(6) - fit @ np.linalg.pinv(fit)).T
        window = (1 - np.cos(2 * np.pi * np.arange(6) / 6)) / 2
        lines = [np.moveaxis(f, "tzyx".index(axis), -1) for f in (a, b, self.weight)]
        starts = range(0, lines[0].shape[-1] - 5, step)
        A, B = (np.stack([np.fft.rfft(f[..., i : i + 6] @ less * window) / 6 for i in starts], -2) for f in lines[:2])
        w = lines[2][..., :1, None]
        # Of lines of z the places along y stay.
        over = (0, 2, 3) if axis == "z" else (0, 1, 2, 3)
        mean = lambda C: [1, 2, 2, 1] / np.mean(window**2) * (C * w).sum(over) / (w + 0 * C).sum(over)
        pair = np.conj(A) * B
        return [mean(np.abs(A) ** 2), mean(pair.real), mean(pair.imag)]

    def pairs(self, a, b, axis, over):
        """<a(x) b(x + r)> over the pairs of nodes along an open axis, r = 0, 1, ..., -2, -1 nodes, by their sums."""
        at, n = "tzyx".index(axis), a.shape["tzyx".index(axis)]
        axes = tuple("tzyx".index(o) for o in over) + (at,)
        w = self.weight.take([0], at) / self.weight.take([0], at).sum(axes, keepdims=True)
        found = []
        for r in [*range(n), *range(1 - n, 0)]:
            x = np.arange(max(0, -r), min(n, n - r))
            found.append((w * a.take(x, at) * b.take(x + r, at)).sum(axes) / len(x))
        return np.stack(found, -1)

    def lengths(self, R, axis, last=None):
        """Integral of R/R(0) at each place by trapezes to its first zero up to `last`, on a line between nodes, or to half; and whether it has one."""
        n = R.shape[-1]
        h = self.at["xyz".index(axis)][1] - self.at["xyz".index(axis)][0]
        lengths, crossed = [], []
        for rho in (R / R[..., :1]).reshape(-1, n)[:, : (last or n // 2) + 1]:
            end = np.argmax(rho <= 0) if (rho <= 0).any() else 0
            line = np.append(rho[:end], 0) if end else rho[: n // 2 + 1]
            at = np.append(np.arange(end), end - 1 + rho[end - 1] / (rho[end - 1] - rho[end])) if end else np.arange(len(line))
            lengths.append(h * ((line[1:] + line[:-1]) / 2 * np.diff(at)).sum())
            crossed.append(end > 0)
        return lengths, crossed

    def open_line(self, a, b, axis, over):
        """Correlations along an open axis: of two with deviations and separations; of one with its integral length."""
        a, b = (one - self.mean(one, over + axis) for one in (a, b))
        R, A, B = (self.pairs(f, g, axis, over) for f, g in ((a, b), (a, a), (b, b)))
        n = a.shape["tzyx".index(axis)]
        h = self.at["xyz".index(axis)][1] - self.at["xyz".index(axis)][0]
        lengths, crossed = self.lengths(A[..., :n], axis, n - 1)
        r = h * np.array([*range(n), *range(1 - n, 0)])
        return {
            "pair": np.concatenate([R.ravel(), np.sqrt(A[..., 0]).ravel(), np.sqrt(B[..., 0]).ravel(), r]),
            "auto": np.concatenate([A.ravel(), lengths, crossed]),
        }


def cat(parts):
    return tuple(np.concatenate(one) for one in zip(*parts))


def pooled(part):
    q, w = part
    q, w = q[~np.isnan(q)], w[~np.isnan(q)]
    mean = np.average(q, weights=w)
    return mean, np.average((q - mean) ** 2, weights=w)


def effective(series):
    d = np.asarray(series) - np.mean(series)
    c = np.correlate(d, d, "full")[len(d) - 1 :]
    end = np.argmax(c <= 0) if (c <= 0).any() else len(c)
    return len(d) / (1 + 2 * (c[1:end] / c[0]).sum())


def moments(q, weight):
    known = ~np.isnan(q)
    missing = int((~known).sum())
    q, weight = q[known], weight[known]
    if not len(q):
        return {name: np.nan for name in ("mean", "variance", "skewness", "flatness", "min", "max")} | {"count": 0, "missing": missing}
    mean = np.average(q, weights=weight) if np.ptp(q) else q[0]
    m = [np.average((q - mean) ** k, weights=weight) for k in (2, 3, 4)]
    shape = (m[1] / m[0] ** 1.5, m[2] / m[0] ** 2) if m[0] > 0 else (np.nan, np.nan)
    return dict(zip(("mean", "variance", "skewness", "flatness"), (mean, m[0], *shape))) | {
        "min": q.min(), "max": q.max(), "count": len(q), "missing": missing,
    }  # fmt: skip


def binned(q, edges):
    """Half-open bins, the last closed; -1 outside."""
    places = np.minimum(np.searchsorted(edges, q, side="right") - 1, len(edges) - 2)
    return np.where((q >= edges[0]) & (q <= edges[-1]), places, -1)


def reduce(kind, columns, weight, bins=None, range=None, count=3, at=()):
    if kind == "moments":
        return moments(columns[0], weight)
    known = ~np.any(np.isnan(columns), axis=0)
    kept = [column[known] for column in columns]
    missing, weight = int((~known).sum()), weight[known]
    if kind == "covariance":
        means = [np.average(q, weights=weight) if len(q) else np.nan for q in kept]
        matrix = [[np.average((a - i) * (b - j), weights=weight) if len(a) else np.nan for b, j in zip(kept, means)] for a, i in zip(kept, means)]
        return {"matrix": matrix, "count": len(kept[0]), "missing": missing}
    if kind == "quantiles":
        order = np.argsort(kept[0], kind="stable")
        sums = np.cumsum(weight[order])
        values = [kept[0][order][np.searchsorted(sums, (p - 1e-12) * sums[-1])] if len(order) else np.nan for p in at]
        return {"values": values, "missing": missing}
    if kind == "extremes":
        order = np.argsort(kept[0], kind="stable")
        return {"highest": kept[0][order[::-1][:count]].tolist(), "lowest": kept[0][order[:count]].tolist()}
    edges = [np.linspace(low, high, n + 1) for n, (low, high) in zip(bins, range)]
    places = [binned(q, e) for q, e in zip(kept[1:] if kind == "conditional" else kept, edges)]
    inside = np.all([place >= 0 for place in places], axis=0)
    flat = np.ravel_multi_index([place[inside] for place in places], bins)
    size = int(np.prod(bins))
    counts, weights = np.bincount(flat, minlength=size), np.bincount(flat, weight[inside], size)
    out = {"counts": counts.reshape(bins).tolist(), "weights": weights.reshape(bins).tolist(), "missing": missing}
    if kind == "histogram":
        low, high = range[0]
        return out | {"below": int((kept[0] < low).sum()), "above": int((kept[0] > high).sum()), "weight": weight.sum()}
    if kind == "joint":
        return out | {"outside": int((~inside).sum()), "weight": weight.sum()}
    means = np.bincount(flat, (weight * kept[0])[inside], size) / weights
    return out | {"mean": means.reshape(bins).tolist(), "outside": int((~inside).sum())}


def plain(value):
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    return np.asarray(value, float).tolist()


def main():
    given = json.load(sys.stdin)
    answers = []
    for data in given["grids"]:
        g = Grid(data["grid"])
        other = {"other": Grid(data["other"])} if "other" in data else {}
        names = {**other, **vars(g), **{n: getattr(g, n) for n in dir(g) if not n.startswith("_")}, "np": np, "g": g}
        own = []
        answers.append(own)
        with np.errstate(all="ignore"):
            for request in data["requests"]:
                text, options = (request, {}) if isinstance(request, str) else (request["python"], request["asked"])
                g.ask(**options)
                names.update(x=g.x, y=g.y, z=g.z)
                own.append(plain(eval(text, names)))
    json.dump(answers, sys.stdout)


main()

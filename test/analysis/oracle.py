"""Reductions by NumPy of whole arrays, as an oracle that shares no code with the service.

Reads JSON from standard input: datasets with raw float32 fields and coordinates of nodes, and requests. Prints the answers.
"""

import itertools
import json
import sys

import numpy as np


def windows(places, period):
    """Five nodes around each node: centred, shifted at the ends of an axis that is not periodic."""
    n = len(places)
    for i in range(n):
        first = i - 2 if period else min(max(i - 2, 0), n - 5)
        nodes = np.arange(first, first + 5)
        at = places[nodes % n] + (period or 0) * (nodes // n)
        yield nodes % n, at - places[i]


def differences(places, period):
    """The matrix of first derivatives through five nodes."""
    out = np.zeros((len(places), len(places)))
    for i, (nodes, offsets) in enumerate(windows(places, period)):
        scale = np.abs(offsets).max()
        powers = np.vander(offsets / scale, 5, increasing=True).T
        out[i, nodes] = np.linalg.solve(powers, [0, 1, 0, 0, 0]) / scale
    return out


def quantities(data):
    """Names of expressions in Python for a frame: arrays [z, y, x] in float64."""
    shape = [len(axis) for axis in data["axes"]][::-1]
    frames = data["frames"]
    u = np.fromfile(data["velocity"], "<f4").reshape([frames, *shape, 3]).astype(float)
    p = np.fromfile(data["pressure"], "<f4").reshape([frames, *shape]).astype(float)
    axes = [np.array(axis) for axis in data["axes"]]
    matrices = [differences(axis, period) for axis, period in zip(axes, data["periods"])]
    z, y, x = np.meshgrid(*axes[::-1], indexing="ij")

    def slope(field, axis):
        along = 2 - axis
        with np.errstate(invalid="ignore"):
            moved = np.moveaxis(field, along, 0)
            # NaN spreads only to nodes whose stencil holds it.
            known = np.where(np.isnan(moved), 0.0, moved)
            out = np.tensordot(matrices[axis], known, 1)
            reached = np.tensordot((np.abs(matrices[axis]) > 1e-9 * np.abs(matrices[axis]).max()).astype(float), np.isnan(moved).astype(float), 1) > 0
            out[reached] = np.nan
        return np.moveaxis(out, 0, along)

    for t in range(frames):
        v = [u[t, ..., c] for c in range(3)]
        A = [[slope(v[i], j) for j in range(3)] for i in range(3)]
        S = [[(A[i][j] + A[j][i]) / 2 for j in range(3)] for i in range(3)]
        w = [A[2][1] - A[1][2], A[0][2] - A[2][0], A[1][0] - A[0][1]]
        yield {"np": np, "u": v, "p": p[t], "A": A, "S": S, "w": w, "x": x, "y": y, "z": z, "range": range, "sum": sum}


def moments(q, weight):
    known = ~np.isnan(q)
    q, weight = q[known], weight[known]
    if not len(q):
        return {"count": 0, "missing": int((~known).sum())}
    mean = np.average(q, weights=weight)
    m = [np.average((q - mean) ** k, weights=weight) for k in (2, 3, 4)]
    return {
        "mean": mean, "variance": m[0], "skewness": m[1] / m[0] ** 1.5, "flatness": m[2] / m[0] ** 2,
        "min": q.min(), "max": q.max(), "count": len(q), "missing": int((~known).sum()),
    }  # fmt: skip


def reduce(kind, columns, weight, options):
    if kind == "moments":
        return moments(columns[0], weight)
    known = ~np.any(np.isnan(columns), axis=0)
    kept = [column[known] for column in columns]
    missing, weight = int((~known).sum()), weight[known]
    if kind == "covariance":
        return {"matrix": np.cov(kept, aweights=weight, ddof=0).tolist(), "count": len(kept[0]), "missing": missing}
    if kind == "histogram":
        low, high = options["range"]
        counts = np.histogram(kept[0], options["bins"], (low, high))[0]
        weights = np.histogram(kept[0], options["bins"], (low, high), weights=weight)[0]
        below, above = int((kept[0] < low).sum()), int((kept[0] > high).sum())
        sums = {"weights": weights.tolist(), "weight": weight.sum()}
        return {"counts": counts.tolist(), **sums, "below": below, "above": above, "missing": missing}
    if kind == "joint":
        counts = np.histogram2d(*kept, options["bins"], options["range"])[0]
        weights = np.histogram2d(*kept, options["bins"], options["range"], weights=weight)[0]
        return {"counts": counts.tolist(), "weights": weights.tolist(), "weight": weight.sum(), "outside": len(kept[0]) - int(counts.sum()), "missing": missing}
    if kind == "conditional":
        low, high = options["range"]
        edges = np.linspace(low, high, options["bins"] + 1)
        inside = (kept[1] >= low) & (kept[1] <= high)
        places = np.minimum(np.searchsorted(edges, kept[1], side="right") - 1, options["bins"] - 1)
        lists = [(kept[0][inside & (places == b)], weight[inside & (places == b)]) for b in range(options["bins"])]
        means = [np.average(q, weights=v) if len(q) else None for q, v in lists]
        return {"mean": means, "counts": [len(q) for q, _ in lists], "weights": [v.sum() for _, v in lists], "missing": missing}
    order = np.argsort(kept[0], kind="stable")
    return {"highest": kept[0][order[::-1][: options["count"]]].tolist(), "lowest": kept[0][order[: options["count"]]].tolist()}


def beyond(values, axis, first, count, period):
    """Coordinates of a region, which go on past the seam."""
    n = values.shape[2 - axis]
    shift = np.where(np.arange(n) < first + count - n, period or 0, 0)
    return values + shift.reshape([-1 if a == 2 - axis else 1 for a in range(3)])


def answer(request, frames, weights, periods):
    wrapped = [np.take(np.arange(n), range(first, first + count), mode="wrap")
               for (first, count), n in zip(request["box"][::-1], next(iter(frames))["p"].shape)]  # fmt: skip
    frames = [
        {**names, **{"xyz"[a]: beyond(names["xyz"[a]], a, *request["box"][a], periods[a]) for a in range(3)}}
        for names in frames
    ]
    columns = [
        np.array([eval(text, frames[t])[np.ix_(*wrapped)] for t in request["frames"]])  # noqa: S307
        for text in request["python"]
    ]
    one = np.ones(columns[0].shape)
    weight = one * np.einsum("i,j,k->ijk", *[np.array(weights[2 - a])[wrapped[a]] for a in range(3)])[None]
    kept = request["kept"]
    order = [0, 1, 2, 3]
    lengths = [columns[0].shape[a] if a in kept else 1 for a in order]
    out = []
    for place in itertools.product(*[range(n) for n in lengths]):
        index = tuple(place[a] if a in kept else slice(None) for a in order)
        out.append(reduce(request["kind"], [column[index].ravel() for column in columns], weight[index].ravel(), request))
    return out


task = json.load(sys.stdin)
known = [list(quantities(data)) for data in task["datasets"]]
answers = [
    answer(request, known[request["dataset"]], *[task["datasets"][request["dataset"]][name] for name in ("weights", "periods")])
    for request in task["requests"]
]
json.dump(answers, sys.stdout, default=float)

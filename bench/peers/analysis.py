"""Analyses by NumPy, SciPy and h5py as users write them, reads included.

usage: analysis.py FILE NODES. Prints a line of JSON, case -> null or why it is not there; then answers lines "case" on standard
input with its seconds and a number of the answer.
"""

import json
import sys
import time


def slope(np, field, axis, spacing):
    """None_Fd4 along an axis, 0 for x, by rolled arrays."""
    a = 2 - axis
    near = np.roll(field, -1, a) - np.roll(field, 1, a)
    return (near * (2 / 3) - (np.roll(field, -2, a) - np.roll(field, 2, a)) / 12) / spacing


def moments(np, q):
    mean = q.mean()
    d = q - mean
    square = d * d
    variance = square.mean()
    return variance, (square * d).mean() / variance**1.5, (square * square).mean() / variance**2, q.min(), q.max()


def cases(np, ndimage, fft, velocity, nodes):
    h = 2 * np.pi / nodes

    def ux():
        # The whole frame: h5py takes twenty times as long for one component of interleaved ones.
        return moments(np, velocity[0][..., 0].astype(np.float64))[0]

    def strain():
        u = velocity[0].astype(np.float64)
        a = [[slope(np, u[..., i], j, h) for j in range(3)] for i in range(3)]
        off = (a[0][1] + a[1][0]) ** 2 + (a[0][2] + a[2][0]) ** 2 + (a[1][2] + a[2][1]) ** 2
        return moments(np, a[0][0] ** 2 + a[1][1] ** 2 + a[2][2] ** 2 + off / 2)[0]

    def spectrum():
        # Shells are not summed: the anchor is the transform alone.
        u = velocity[0].astype(np.float64)
        modes = [fft.rfftn(np.ascontiguousarray(u[..., i]), workers=2) for i in range(3)]
        return abs(modes[0][0, 0, 1]) ** 2

    def structures():
        u = velocity[0].astype(np.float64)
        square = sum(
            (slope(np, u[..., i], j, h) - slope(np, u[..., j], i, h)) ** 2 for i, j in ((2, 1), (0, 2), (1, 0))
        )
        labels, count = ndimage.label(square > 4 * square.mean())
        roots = list(range(count + 1))

        def root(i):
            while roots[i] != i:
                i = roots[i]
            return i

        for axis in range(3):
            seam = np.stack([np.take(labels, 0, axis).ravel(), np.take(labels, -1, axis).ravel()], 1)
            for a, b in np.unique(seam[(seam > 0).all(1)], axis=0):
                i, j = sorted((root(a), root(b)))
                roots[j] = i
        merged = np.array([root(i) for i in range(count + 1)])
        return len(np.unique(merged[1:])), np.bincount(merged[labels].ravel())[1:].max()

    scipy = {"structures": structures, "spectrum": spectrum} if ndimage else {"structures": None, "spectrum": None}
    return {"ux": ux, "strain": strain, **scipy}


def main():
    try:
        import h5py
        import numpy as np
    except ImportError as error:
        print(json.dumps({name: str(error) for name in ("ux", "strain", "structures", "spectrum")}), flush=True)
        return
    try:
        from scipy import fft, ndimage
    except ImportError:
        fft = ndimage = None
    with h5py.File(sys.argv[1]) as file:
        known = cases(np, ndimage, fft, file["velocity"], int(sys.argv[2]))
        print(json.dumps({name: None if run else "no scipy" for name, run in known.items()}), flush=True)
        for line in sys.stdin:
            since = time.perf_counter()
            value = known[line.strip()]()
            number = value[0] if isinstance(value, tuple) else value
            print(time.perf_counter() - since, float(number), flush=True)


main()

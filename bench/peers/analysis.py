"""Analyses by NumPy, SciPy and h5py as users write them, reads included.

usage: analysis.py FILE SERIES NODES. Prints a line of JSON, case -> null or why it is not there; then answers lines "case" on
standard input with its seconds, its CPU seconds and a number of the answer.
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


def cases(np, scipy, file, series, nodes):
    h = 2 * np.pi / nodes
    velocity, pressure = file["velocity"], file["pressure"]
    ndimage, fft, signal = scipy

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

    def enstrophy():
        u = velocity[0].astype(np.float64)
        return sum((slope(np, u[..., i], j, h) - slope(np, u[..., j], i, h)) ** 2 for i, j in ((2, 1), (0, 2), (1, 0)))

    def around():
        square, p = enstrophy(), pressure[0].reshape((nodes,) * 3).astype(np.float64)
        k, j, i = np.nonzero(square > 4 * square.mean())
        lag = range(-2, 3)
        return [p[(k + c) % nodes, (j + b) % nodes, (i + a) % nodes].mean() for c in lag for b in lag for a in lag][0]

    def structures():
        square = enstrophy()
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

    def stress():
        u = velocity[0][..., :2].astype(np.float64)
        d = u - u.mean((0, 2), keepdims=True)
        return [moments(np, plane)[0] for plane in np.moveaxis(d[..., 0] * d[..., 1], 1, 0)][0]

    def quantiles():
        return np.quantile(velocity[0][..., 0].astype(np.float64), [0.05, 0.5, 0.95], method="inverted_cdf")[1]

    def conditions():
        u, p = velocity[0].astype(np.float64), pressure[0].astype(np.float64).ravel()
        u = u.reshape(-1, 3)
        edges = np.linspace(-2, 2, 33)
        counts = np.histogram2d(u[:, 0], u[:, 1], [edges, edges])[0]
        sums = np.histogram2d(u[:, 0], u[:, 1], [edges, edges], weights=p)[0]
        squares = np.histogram2d(u[:, 0], u[:, 1], [edges, edges], weights=p * p)[0]
        with np.errstate(all="ignore"):
            return np.nanmax(squares / counts - (sums / counts) ** 2)

    def correlation():
        u = velocity[0][..., 0].astype(np.float64)
        u -= u.mean((0, 2), keepdims=True)
        modes = fft.rfft(u, axis=2)
        return fft.irfft((np.abs(modes) ** 2).mean(0), axis=-1)[0, 0]

    def modes():
        u = velocity[0][..., 0].astype(np.float64)
        modes = fft.rfft2(u - u.mean(), axes=(0, 2)) / nodes**2
        energy = (np.abs(modes) ** 2).mean(1)
        energy[:, 1:-1] *= 2
        return energy[1, 1]

    def coherence():
        u = velocity[0][..., :2].astype(np.float64)
        a, b = (fft.rfft(u[..., c] - u[..., c].mean((0, 2), keepdims=True), axis=2) for c in (0, 1))
        cross = (a.conj() * b).mean(0)
        return (np.abs(cross) ** 2 / ((np.abs(a) ** 2).mean(0) * (np.abs(b) ** 2).mean(0)))[0, 1]

    def filtered():
        e = velocity[0][..., 0].astype(np.float64) * pressure[0].reshape((nodes,) * 3)
        k, half = fft.fftfreq(nodes, 1 / nodes), fft.rfftfreq(nodes, 1 / nodes)
        square = k[:, None, None] ** 2 + k[:, None] ** 2 + half**2
        return moments(np, fft.irfftn(fft.rfftn(e, workers=2) * np.exp(-square * 0.3**2 / 24), workers=2))[0]

    def increments():
        u = velocity[0][..., 0].astype(np.float64)
        sums = []
        for separation in (1, 2, 4, 8):
            d = np.abs(np.roll(u, -separation, 2) - u)
            sums.append(((d * d).mean(), (d**1.5).mean(), (d**3).mean()))
        return sums[0][0]

    def welch():
        u = series["velocity"][..., 0].astype(np.float64)
        return signal.welch(u, nperseg=32, axis=0)[1].mean((1, 3))[1, 0]

    known = {"ux": ux, "strain": strain, "stress": stress, "quantiles": quantiles, "two conditions": conditions}
    known |= {"increments": increments, "around": around}
    more = {"structures": structures, "spectrum": spectrum, "correlation": correlation, "welch": welch}
    more |= {"modes": modes, "coherence": coherence, "filter": filtered}
    return known | (more if ndimage else dict.fromkeys(more))


def main():
    try:
        import h5py
        import numpy as np
    except ImportError as error:
        names = "ux,strain,structures,spectrum,stress,quantiles,two conditions,correlation,welch"
        more = "modes,coherence,filter,increments,around"
        print(json.dumps(dict.fromkeys(f"{names},{more}".split(","), str(error))), flush=True)
        return
    try:
        from scipy import fft, ndimage, signal

        scipy = (ndimage, fft, signal)
    except ImportError:
        scipy = (None, None, None)
    with h5py.File(sys.argv[1]) as file, h5py.File(sys.argv[2]) as series:
        known = cases(np, scipy, file, series, int(sys.argv[3]))
        print(json.dumps({name: None if run else "no scipy" for name, run in known.items()}), flush=True)
        for line in sys.stdin:
            since, cpu = time.perf_counter(), time.process_time()
            value = known[line.strip()]()
            number = value[0] if isinstance(value, tuple) else value
            print(time.perf_counter() - since, time.process_time() - cpu, float(number), flush=True)


main()

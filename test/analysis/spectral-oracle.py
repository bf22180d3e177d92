"""Spectra and filtered means by numpy.fft of whole arrays, as an oracle that shares no code with the service.

Reads JSON from standard input: a velocity of float32, its nodes, and requests. Prints the answers.
"""

import json
import sys

import numpy as np

data = json.load(sys.stdin)
nodes = data["nodes"]  # x, y, z
u = np.fromfile(data["velocity"], "<f4").reshape([*nodes[::-1], 3]).astype(float)
fields = {"u": np.moveaxis(u, -1, 0), "u.x": u[None, ..., 0], "u.y * u.z": (u[..., 1] * u[..., 2])[None]}
k = np.meshgrid(*[np.fft.fftfreq(n, 1 / n) for n in nodes[::-1]], indexing="ij")[::-1]  # x, y, z
odd = [np.where(np.abs(k[a]) * 2 == nodes[a], 0, k[a]) for a in range(3)]
square = k[0] ** 2 + k[1] ** 2 + k[2] ** 2


def binned(bins, weights, count):
    return np.bincount(bins.ravel(), np.broadcast_to(weights, bins.shape).ravel(), count)[:count].tolist()


def spectrum(of, kind, axis):
    axes = {"shell": [0, 1, 2], "line": [axis], "plane": [a for a in range(3) if a != axis]}[kind]
    modes = np.fft.fftn(fields[of], axes=[3 - a for a in axes]) / np.prod([nodes[a] for a in axes])
    energy = (np.abs(modes) ** 2).sum(0)
    if kind == "line":
        mean = np.moveaxis(energy, 2 - axis, 0).reshape(nodes[axis], -1).mean(1)
        return binned(np.abs(np.fft.fftfreq(nodes[axis], 1 / nodes[axis])).astype(int), mean, nodes[axis] // 2 + 1)
    shells = np.floor(np.sqrt(sum(k[a] ** 2 for a in axes)) + 0.5).astype(int)
    if kind == "shell":
        return binned(shells, energy / 2, shells.max() + 1)
    planes = [np.take(energy, i, 2 - axis) for i in range(nodes[axis])]
    return [binned(np.take(shells, 0, 2 - axis), one / 2, shells.max() + 1) for one in planes]


def extra(name):
    modes = np.fft.fftn(fields["u"], axes=(1, 2, 3)) / u[..., 0].size
    shells = np.floor(np.sqrt(square) + 0.5).astype(int)
    if name == "helicity":
        curl = np.cross(np.stack(odd), 1j * modes, axis=0)
        return binned(shells, (np.conj(modes) * curl).sum(0).real, shells.max() + 1)
    v = fields["u"]
    rate = np.stack([-sum(1j * odd[j] * np.fft.fftn(v[i] * v[j]) for j in range(3)) for i in range(3)]) / u[..., 0].size
    length = sum(one**2 for one in odd)
    along = sum(odd[a] * rate[a] for a in range(3)) / np.where(length == 0, 1, length)
    rate = rate - np.stack([odd[a] * along for a in range(3)])
    return binned(shells, (np.conj(modes) * rate).sum(0).real, shells.max() + 1)


def filtered(kind, width):
    if kind == "gaussian":
        factor = np.exp(-square * width**2 / 24)
    elif kind == "sharp":
        factor = (square <= (np.pi / width) ** 2).astype(float)
    else:
        factor = 1.0

    def bar(field):
        if kind != "tophat":
            return np.fft.ifftn(factor * np.fft.fftn(field)).real
        for axis in range(3):
            spacing = 2 * np.pi / nodes[axis]
            half = max(n for n in range(nodes[axis]) if n == 0 or 2 * n * spacing < width)
            field = sum(np.roll(field, s, 2 - axis) for s in range(-half, half + 1)) / (2 * half + 1)
        return field

    v = fields["u"]
    smooth = [bar(v[i]) for i in range(3)]
    tau = [[bar(v[i] * v[j]) - smooth[i] * smooth[j] for j in range(3)] for i in range(3)]
    slope = [[np.fft.ifftn(1j * odd[j] * np.fft.fftn(smooth[i])).real for j in range(3)] for i in range(3)]
    flux = -sum(tau[i][j] * (slope[i][j] + slope[j][i]) / 2 for i in range(3) for j in range(3))
    return [sum(one**2 for one in smooth).mean(), (tau[0][0] + tau[1][1] + tau[2][2]).mean(), flux.mean(), (flux**2).mean()]


print(json.dumps([{"spectrum": spectrum, "extra": extra, "filter": filtered}[call](*arguments) for call, arguments in data["requests"]]))

"""Prints statistics of a channel from its stored numbers: numpy and h5py alone, no code of the simulation.

    python3 tools/channel/statistics.py data/turbulent-channel/turbulent-channel.h5
"""
import sys

import h5py
import numpy as np

file = h5py.File(sys.argv[1])
viscosity = float(file.attrs["viscosity"])
y = file["y"][...]
last = len(y) - 1


def field(name):
    stored = file[name]
    return stored[...] * float(stored.attrs["scale_factor"]) + float(stored.attrs.get("add_offset", 0))


# Differentiation and integration on the nodes (Trefethen, Spectral Methods in MATLAB, chapters 6 and 12).
j = np.arange(last + 1)
c = np.where((j == 0) | (j == last), 2.0, 1.0) * (-1.0) ** j
derivative = np.outer(c, 1 / c) / (y[:, None] - y[None, :] + np.eye(last + 1))
derivative -= np.diag(derivative.sum(1))
k = np.arange(1, last // 2 + 1)
terms = np.where(2 * k == last, 1, 2) * np.cos(2 * np.pi * np.outer(j, k) / last) / (4 * k**2 - 1)
weights = np.where((j == 0) | (j == last), 1, 2) / last * (1 - terms.sum(1))


def periodic(values, axis, length):
    n = values.shape[axis]
    waves = np.fft.fftfreq(n, 1 / n) * (np.arange(n) != n / 2) * 2 * np.pi / length
    shape = [1] * values.ndim
    shape[axis] = n
    return np.fft.ifft(1j * waves.reshape(shape) * np.fft.fft(values, axis=axis), axis=axis).real


def volume(values):
    return (values.mean(axis=(0, 1, 3)) * weights).sum() / 2


u, v, w = (field(name) for name in "uvw")  # [t][z][y][x]
lengths = {"x": float(sys.argv[2]) if len(sys.argv) > 2 else np.pi, "z": float(sys.argv[3]) if len(sys.argv) > 3 else np.pi / 2}
slopes = [[periodic(f, 3, lengths["x"]), np.einsum("ij,tzjx->tzix", derivative, f), periodic(f, 1, lengths["z"])] for f in (u, v, w)]
divergence = slopes[0][0] + slopes[1][1] + slopes[2][2]
gradient = sum(s**2 for row in slopes for s in row)
print(f"frames: divergence over gradient {np.sqrt(volume(divergence**2) / volume(gradient)):.1e}, at the walls {max(abs(f[:, :, [0, -1]]).max() for f in (u, v, w))}")

mean = {name: file[f"average/{name}"][...] for name in file["average"]}
slope = derivative @ mean["u"]
stress = viscosity * slope - mean["uv"]
print(f"averages: total stress less -y at most {abs(stress + y).max():.3f}, friction velocity {np.sqrt(viscosity * (slope[0] - slope[-1]) / 2):.3f}")
bulk, energy, dissipation = (file[f"history/{name}"][...] for name in ("bulk", "energy", "dissipation"))
print(f"bulk velocity {(mean['u'] * weights).sum() / 2:.2f}, centre {mean['u'][last // 2]:.2f}")
rate = np.gradient(energy, 0.025)
print(f"history: input - dissipation - change of energy, rms over rms of dissipation {np.std((bulk - dissipation - rate)[2:-2]) / dissipation.mean():.4f}")
half = {name: (values + (-1 if name == "uv" else 1) * values[::-1])[: last // 2 + 1] / 2 for name, values in mean.items()}
wall = (1 + y[: last // 2 + 1]) / viscosity
# y+ and U+ of Moser, Kim and Mansour (Phys. Fluids 11, 943, 1999) at Re_tau = 178.12, from their file chan180.means.
published = np.array([
    [0.0536, 0.0536], [0.4826, 0.4820], [1.3396, 1.3339], [2.6223, 2.5939], [4.3280, 4.2095], [6.4522, 6.0493], [8.9901, 7.9052],
    [11.935, 9.5790], [15.281, 10.967], [19.020, 12.066], [23.140, 12.921], [27.635, 13.590], [32.493, 14.121], [37.699, 14.557],
    [43.246, 14.931], [49.117, 15.264], [55.299, 15.569], [61.777, 15.855], [68.535, 16.128], [75.558, 16.389], [82.826, 16.637],
    [90.325, 16.872], [98.034, 17.094], [105.93, 17.302], [114.01, 17.494],
])
print("     y+      U  U 178  u_rms  v_rms  w_rms    -uv  p_rms")
known = np.interp(wall, [0, *published[:, 0]], [0, *published[:, 1]])
for row in zip(wall, half["u"], known, *(np.sqrt(half[name]) for name in ("uu", "vv", "ww")), -half["uv"], np.sqrt(half["pp"])):
    print("".join(f"{value:7.2f}" for value in row))

"""Prints statistics of an isotropic flow from its stored frames, by numpy alone.

Usage: python3 tools/generate/statistics.py data/isotropic64/isotropic64.h5
"""

import sys

import h5py
import numpy as np

GUARDS = (1, 2)


def statistics(u, nu):
    """The figures of one frame: u has shape (3, n, n, n), components along x, y, z at [z][y][x]."""
    n = u.shape[1]
    wave = np.fft.fftfreq(n, 1 / n)
    kz, ky, kx = np.meshgrid(wave, wave, wave, indexing="ij")
    k2 = kx**2 + ky**2 + kz**2
    modes = np.fft.fftn(u, axes=(1, 2, 3)) / n**3
    energies = (abs(modes) ** 2).sum(axis=0) / 2
    shell = np.rint(np.sqrt(k2)).astype(int)
    spectrum = np.bincount(shell.ravel(), energies.ravel())
    energy, dissipation = energies.sum(), 2 * nu * (k2 * energies).sum()
    rms = np.sqrt(2 * energy / 3)
    integral = np.pi / (2 * rms**2) * (spectrum[1:] / np.arange(1, len(spectrum))).sum()
    along = [np.fft.ifftn(1j * k * m * n**3).real for k, m in zip((kx, ky, kz), modes)]
    divergence = abs(kx * modes[0] + ky * modes[1] + kz * modes[2])
    moment = lambda order: np.mean([(d**order).mean() / (d**2).mean() ** (order / 2) for d in along])
    return {
        "energy": energy,
        "dissipation": dissipation,
        "Taylor-scale Reynolds number": rms**2 * np.sqrt(15 / (nu * dissipation)),
        "skewness of the longitudinal derivative": moment(3),
        "flatness of the longitudinal derivative": moment(4),
        "dissipation times integral scale over rms^3": dissipation * integral / rms**3,
        "15 nu <(du/dx)^2> over the dissipation": 15 * nu * np.mean([(d**2).mean() for d in along]) / dissipation,
        "kmax eta": (n - 1) // 3 * (nu**3 / dissipation) ** 0.25,
        "divergence over gradient": np.sqrt((divergence**2).sum() / (2 * k2 * energies).sum()),
        "eddy turnover time": integral / rms,
    }, spectrum


def main(path):
    """Prints the mean and the range of each figure over the frames that can be asked for."""
    with h5py.File(path) as file:
        nu = float(np.ravel(file.attrs["viscosity"])[0])
        count = file["u"].shape[0]
        frames = range(GUARDS[0], count - GUARDS[1])
        read = lambda t: np.stack([file[c][t] * float(np.ravel(file[c].attrs["scale_factor"])[0]) for c in "uvw"])
        rows, spectra = zip(*(statistics(read(t), nu) for t in frames))
    for name in rows[0]:
        values = [row[name] for row in rows]
        print(f"{name}: {np.mean(values):.4g} ({min(values):.4g} to {max(values):.4g})")
    mean = np.mean(spectra, axis=0)
    rate = np.mean([row["dissipation"] for row in rows])
    compensated = [mean[k] * k ** (5 / 3) * rate ** (-2 / 3) for k in range(1, 11)]
    print("E k^(5/3) / dissipation^(2/3), k = 1 to 10:", " ".join(f"{value:.2f}" for value in compensated))


if __name__ == "__main__":
    main(sys.argv[1])

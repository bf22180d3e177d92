"""Makes an atmospheric set as its producer does, with netCDF4, and asks a service for it: python3 atmosphere.py make FOLDER | ask URL | giverny URL CLONE"""
import json
import sys
import types
from urllib.request import Request, urlopen

import numpy as np

LENGTH = 400.0
SIZES = (24, 48)
NAMES = {24: "atmosphere24", 48: "sabl2048high"}
K = 2 * np.pi / LENGTH
FIELDS = {
    "u": lambda x, y, z: np.sin(2 * K * x) * np.cos(K * y) * np.cos(0.8 * K * z + 0.2),
    "v": lambda x, y, z: np.cos(K * x + 0.4) * np.sin(2 * K * y) * np.sin(1.1 * K * z + 0.3),
    "w": lambda x, y, z: np.sin(0.5 * K * z) * np.cos(K * x) * np.sin(K * y + 0.2),
    "p": lambda x, y, z: np.cos(K * x) * np.cos(K * y) + np.cos(0.9 * K * z),
    "temperature": lambda x, y, z: 3 + np.sin(K * x) * np.cos(1.2 * K * z),
    "energy": lambda x, y, z: 2 + np.cos(2 * K * x + 0.1) * np.sin(K * y) + np.cos(1.3 * K * z),
    "sgsviscosity": lambda x, y, z: np.sin(K * (x + y)) + np.sin(0.7 * K * z + 0.4),
    "soiltemperature": lambda x, y, z: np.cos(K * (x - y)) + np.sin(1.4 * K * z),
}


def make(folder):
    import netCDF4

    for n in SIZES:
        step = LENGTH / n
        places = {"x": np.arange(n) * step, "y": np.arange(n) * step, "zu": (np.arange(n) + 0.5) * step, "zw": np.arange(n + 1) * step}
        with netCDF4.Dataset(f"{folder}/{NAMES[n]}.nc", "w") as file:
            file.Conventions = "CF-1.8"
            # Levels of w at the ends of the domain are those of a lid, of a radiating top and of a nested one alike.
            file.bc_x, file.bc_y, file.bc_z = "periodic", "periodic", "free-slip"
            file.createDimension("time", 2)
            file.createVariable("time", "f8", ("time",))[:] = [0.0, 0.075]
            for name, values in places.items():
                file.createDimension(name, len(values))
                file.createVariable(name, "f8", (name,))[:] = values
            for name, field in FIELDS.items():
                level = "zw" if name == "w" else "zu"
                stored = file.createVariable(name, "f4", ("time", level, "y", "x"))
                z, y, x = np.meshgrid(places[level], places["y"], places["x"], indexing="ij")
                stored[:] = np.broadcast_to(field(x, y, z), (2, *x.shape))


POINTS = np.float32(np.random.default_rng(3).random((200, 3)) * LENGTH)


def exact(names, points=POINTS):
    x, y, z = points.T.astype(float)
    return np.stack([FIELDS[name](x, y, z) for name in names], axis=1)


def ask(base):
    for method, order in (("Lag4", 4), ("Lag6", 6), ("Lag8", 8)):
        errors = []
        for n in SIZES:
            values = []
            for field in ("u", "p", "temperature", "energy", "sgsviscosity", "soiltemperature"):
                query = {"what": field, "time": 0.075, "method": method, "time_method": "nearest", "points": POINTS.tolist()}
                request = Request(f"{base}/api/datasets/{NAMES[n]}/values", json.dumps(query).encode(), {"Content-Type": "application/json"})
                values.append(np.array(json.load(urlopen(request))["rows"])[:, 3:])
            errors.append(np.abs(np.hstack(values) - exact(FIELDS)).max(axis=0))
        coarse, fine = errors
        measured = np.log2(coarse / fine)
        assert ((measured > order - 0.7) | (fine < 2e-6)).all(), (method, measured, fine)
        print(method, np.round(measured, 1))


def giverny(base, clone):
    # The client imports plotly for its plots, which Debian does not have and getData does not use.
    plots = types.ModuleType("plotly.subplots")
    plots.make_subplots = None
    sys.modules.update({"plotly": types.ModuleType("plotly"), "plotly.graph_objects": types.ModuleType("plotly.graph_objects"), "plotly.subplots": plots})
    sys.path.insert(0, f"{clone}/src")
    import requests
    from givernylocal.turbulence_dataset import turb_dataset
    from givernylocal.turbulence_toolkit import getData

    post = requests.post
    requests.post = lambda url, *words, **options: post(url.replace("https://web.idies.jhu.edu", base), *words, **options)
    dataset = turb_dataset("sabl2048high", sys.argv[4], "token")
    points = POINTS[(POINTS[:, 2] > 1) & (POINTS[:, 2] < 399)]
    for variable, names in (("velocity", "uvw"), ("pressure", "p"), ("temperature", ["temperature"]), ("energy", ["energy"])):
        for temporal in ("none", "pchip"):
            values = np.array(getData(dataset, variable, 0.075, temporal, "lag8", "field", points, verbose=False), dtype=float)
            assert np.abs(values.reshape(len(points), -1) - exact(names, points)).max() < 1e-4, variable
        gradient = np.array(getData(dataset, variable, 0.075, "none", "fd4lag4", "gradient", points, verbose=False), dtype=float)
        assert gradient.size == len(points) * 3 * len(names)
    print("equal")


if __name__ == "__main__":
    {"make": make, "ask": ask, "giverny": giverny}[sys.argv[1]](*sys.argv[2:4])

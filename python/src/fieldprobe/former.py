"""Names of the public service's clients as members of the calls, for the shims of giverny and pyJHTDB."""

from __future__ import annotations

import re
from typing import Any, Dict, Optional, Tuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .asking import Version
from .dataset import Dataset
from .labelled import array_of, points_of

#: Fields by the words in names of operations.
FIELDS = {
    "Velocity": "u",
    "Pressure": "p",
    "MagneticField": "magnetic",
    "Magnetic": "magnetic",
    "VectorPotential": "potential",
    "Force": "force",
    "Density": "density",
    "Temperature": "temperature",
}
OPERATORS = {"": "{}", "Gradient": "grad({})", "Hessian": "hess({})", "Laplacian": "lap({})"}
#: Places of xx, xy, xz, yy, yz, zz in a matrix by rows.
_UPPER = [0, 1, 2, 4, 5, 8]


_DIFFERENCES = ("None_Fd4", "None_Fd6", "None_Fd8", "Fd4Lag4")
_VALUES = ("None", "Lag4", "Lag6", "Lag8")
#: Spatial methods by operator, as the public service accepts them, and the first m of the splines MmQq.
_METHODS = {
    "": (_VALUES, 1),
    "Gradient": (_DIFFERENCES, 1),
    "Hessian": (_DIFFERENCES, 2),
    "Laplacian": (_DIFFERENCES, None),
    "Position": (_VALUES, None),
}


def check_method(spatial: str, operator: str) -> str:
    """A spatial method, if an operator takes it. Raises ValueError, as the public service answers 400."""
    names, least = _METHODS[operator]
    spline = re.fullmatch(r"m(\d+)q\d+", spatial.lower())
    fits = spatial.lower() in map(str.lower, names) if spline is None else least is not None and int(spline[1]) >= least
    if not fits:
        splines = [] if least is None else [f"splines from M{least}"]
        raise ValueError(f"{operator.lower() or 'field'} takes the spatial methods {', '.join([*names, *splines])}, not {spatial}")
    return spatial


def how(spatial: str, temporal: str) -> Dict[str, str]:
    """The members that say how, from names such as ``Lag8``, ``None_Fd4``, ``M2Q8`` and ``PCHIP``."""
    times = {"time_method": "nearest" if temporal.lower() == "none" else temporal}
    plain = spatial.lower()
    if plain == "none":
        return {"method": "nearest", **times}
    if plain.startswith("none_"):
        return {"method": "nearest", "derivatives": spatial[5:], **times}
    if plain.startswith("fd"):
        return {"derivatives": spatial, **times}
    return {"method": spatial, **times}


def places(dataset: Dataset, points: ArrayLike) -> NDArray[Any]:
    """Points of shape (…, 3); those of shape (3, n) without names are refused, not read in another order."""
    array = points_of(points, dataset._check_unit)
    if array.shape[-1] != 3:
        raise ValueError(f"points must have the shape (…, 3), not {array.shape}")
    return array


def number(dataset: Dataset, value: Any, name: str, kind: str = "time") -> float:
    """A number in the unit of a dataset. Raises ValueError for several, for no number, and for other units."""
    array = np.empty(1) if isinstance(value, (str, slice)) or value is None else array_of(value, dataset._check_unit, kind)
    if array.ndim != 0:
        raise ValueError(f"{name} must be one number, not {value!r}")
    return float(array)


def components(
    dataset: Dataset, field: str, operator: str, points: NDArray[Any], version: Version, **members: Any
) -> NDArray[np.float32]:
    """Components of a quantity at `places`, shape (points, components), in the public order; Hessians have six for each."""
    what = OPERATORS[operator].format(field)
    values = np.asarray(dataset._call("values", what, {"points": points.reshape(-1, 3), **members}, version=version))
    flat = values.reshape(len(values), -1)
    if operator == "Hessian":
        flat = flat.reshape(len(values), -1, 9)[:, :, _UPPER].reshape(len(values), -1)
    return flat


def records(
    dataset: Dataset,
    points: NDArray[Any],
    start: float,
    end: float,
    dt: float,
    method: str,
    every: Optional[int] = None,
    version: Optional[Version] = None,
) -> Tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Positions from `places`, shape (points, records, 3), and their times, by Heun steps as the public service takes them."""
    recorded: Dict[str, Any] = {"last": True} if every is None else {"every": every}
    members = {"points": points.reshape(-1, 3), "time": slice(start, end), "step": abs(dt), "integrator": "heun"}
    how = {"method": check_method(method, "Position"), **recorded}
    rows = dataset._call("paths", None, {**members, **how}, version=version)
    count = points.size // 3
    positions = np.stack([rows["x"], rows["y"], rows["z"]], axis=-1).reshape(count, -1, 3)
    return positions.astype(np.float32), np.asarray(rows["t"]).reshape(count, -1)[0]

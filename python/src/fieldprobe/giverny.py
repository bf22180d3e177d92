"""``getData`` as notebooks of giverny call it, answered by a fieldprobe service.

An old notebook changes two lines: the import, and how ``dataset`` is made.

>>> from fieldprobe.giverny import turb_dataset, getData
>>> dataset = turb_dataset("isotropic32", url="http://127.0.0.1:8080")
>>> result = getData(dataset, "velocity", 0.5, "pchip", "lag8", "field", points)

The answer is a list with an array of shape ``(points, components)`` for each time; with pandas installed it is a list of
DataFrames with giverny's column names.
"""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import former
from .asking import Version
from .dataset import Dataset
from .labelled import array_of
from .service import connect

_VECTORS = {"velocity": "Velocity", "magneticfield": "MagneticField", "vectorpotential": "VectorPotential", "force": "Force"}
_SCALARS = {"pressure": "Pressure", "density": "Density", "temperature": "Temperature"}
_AXES = "xyz"


class turb_dataset:  # noqa: N801 (giverny's name)
    """A dataset of a service, as giverny's functions take it."""

    def __init__(
        self,
        dataset_title: str,
        output_path: str = "",
        auth_token: Optional[str] = None,
        *,
        url: str = "http://127.0.0.1:8080",
    ) -> None:
        self.dataset_title = dataset_title
        self.output_path = output_path
        service = connect(url, auth_token)
        self.dataset: Dataset = service[dataset_title]
        # As giverny, which reads there whether times are numbers of frames, from 1.
        known = service.fetch("/jhtdb_config.json")["datasets"]
        shifts = {one["code"].lower(): one["simulation"]["tlims"]["timeIndexShift"]["getdata"] for one in known}
        self.counts_frames: bool = shifts.get(dataset_title.lower(), 0) != 0


def getData(  # noqa: N802
    dataset: turb_dataset,
    variable: str,
    time: float,
    temporal_method: str,
    spatial_method: str,
    spatial_operator: str,
    points: ArrayLike,
    option: Sequence[float] = (-999.9, -999.9),
    return_times: bool = False,
    verbose: bool = False,
) -> Any:
    """Values of ``variable`` at points by giverny's arguments.

    Args:
        time: a time, or the number of a frame from 1 for datasets whose clients count frames, as giverny does.
        variable: velocity, pressure, magneticfield, vectorpotential, force, density, temperature, position, or any
            other field of the dataset by its name, such as sgsenergy.
        temporal_method: none or pchip.
        spatial_method: none, lag4, lag6, lag8, fd4noint, fd4lag4, fd6noint, fd8noint, or a spline such as m2q8.
        spatial_operator: field, gradient, hessian or laplacian.
        option: ``(end time, interval)`` of a series of times, backwards if the interval is negative; for positions ``(end time, dt)``.
        return_times: whether the times come as a second result.
    """
    ask = dataset.dataset
    places = former.places(ask, points)
    kind = "a number of a frame" if dataset.counts_frames else "time"
    time, ends = former.number(ask, time, "time", kind), array_of(option, ask._check_unit, kind)
    if ends.shape != (2,) or ends.dtype.kind not in "fiu" or not np.isfinite(ends).all():
        raise ValueError(f"option must be an end time and an interval, not {option!r}")
    end, interval = map(float, ends)
    if variable == "position":
        if dataset.counts_frames:
            raise ValueError(f"{dataset.dataset_title} counts its frames, so it has no tracks")
        frames = [former.records(ask, places, time, end, interval, _spatial(spatial_method))[0]]
        return _answer(frames, [end], list("xyz"), places, return_times)
    fields = {one["name"]: one["components"] for one in ask.description["fields"]}
    field, operator, columns = _quantity(variable, spatial_operator, fields)
    times = _times(time, end, interval)
    how = former.how(former.check_method(_spatial(spatial_method), operator), temporal_method)
    version = Version()
    whens = [_frame(t, len(ask.times)) for t in times] if dataset.counts_frames else [{"time": float(t)} for t in times]
    frames = [former.components(ask, field, operator, places, version, **when, **how) for when in whens]
    return _answer(frames, times, columns, places, return_times)


def _times(start: float, end: float, interval: float) -> List[float]:
    """Times from start by interval to end, an end missed by less than a millionth of an interval included."""
    if end == -999.9:
        return [start]
    if interval == 0 or (end - start) / interval < 0:
        raise ValueError(f"option must lead from the time {start} to its end time, not {end} by {interval}")
    return [start + k * interval for k in range(int((end - start) / interval + 1e-6) + 1)]


def _frame(number: float, count: int) -> Dict[str, int]:
    """The frame of a number from 1, as the service counts them."""
    if number != int(number) or not 1 <= number <= count:
        raise ValueError(f"time is {number:g}, but this dataset takes numbers of frames, 1 to {count}, instead of times")
    return {"frame": int(number) - 1}


def _spatial(method: str) -> str:
    """The service's name of one of giverny's spatial methods."""
    named = {"none": "None", "fd4noint": "None_Fd4", "fd6noint": "None_Fd6", "fd8noint": "None_Fd8", "fd4lag4": "Fd4Lag4"}
    plain = method.lower()
    if plain in named:
        return named[plain]
    return plain.upper() if plain.startswith("m") else plain.capitalize()


def _quantity(variable: str, operator: str, fields: Mapping[str, int]) -> Tuple[str, str, List[str]]:
    """The field and the operator, and giverny's names of the components."""
    word = _VECTORS.get(variable) or _SCALARS.get(variable)
    if word is None and variable not in fields:
        known = [*_VECTORS, *_SCALARS, "position", *(one for one in fields if one not in (*_SCALARS, "velocity"))]
        raise ValueError(f"variable must be one of {', '.join(known)}, not {variable!r}")
    field = variable if word is None else former.FIELDS[word]
    letters = {"magneticfield": "b", "vectorpotential": "a"}
    letter = variable if word is None else letters.get(variable, "u" if variable in _VECTORS else variable[0])
    is_vector = fields[variable] == 3 if word is None else variable in _VECTORS
    parts = [f"{letter}{axis}" for axis in _AXES] if is_vector else [letter]
    pairs = [a + b for i, a in enumerate(_AXES) for b in _AXES[i:]]
    if operator == "field":
        return field, "", parts
    if operator == "gradient":
        return field, "Gradient", [f"d{part}d{axis}" for part in parts for axis in _AXES]
    if operator == "hessian":
        return field, "Hessian", [f"d2{part}d{pair[0]}d{pair[1]}" for part in parts for pair in pairs]
    if operator == "laplacian":
        return field, "Laplacian", [f"grad2{part}" for part in parts]
    raise ValueError(f"spatial_operator must be field, gradient, hessian or laplacian, not {operator!r}")


def _answer(frames: Sequence[Any], times: Sequence[float], columns: List[str], places: NDArray[Any], return_times: bool) -> Any:
    flat = [np.asarray(frame).reshape(-1, len(columns)) for frame in frames]
    try:
        import pandas
    except ImportError:
        results: List[Any] = flat
    else:
        index = pandas.MultiIndex.from_arrays(places.reshape(-1, 3).T, names=list(_AXES))
        results = [pandas.DataFrame(frame, columns=columns, index=index) for frame in flat]
    return (results, np.asarray(times)) if return_times else results

"""``libJHTDB`` as notebooks of pyJHTDB call it, answered by a fieldprobe service.

>>> from fieldprobe.pyjhtdb import libJHTDB
>>> lJHTDB = libJHTDB(url="http://127.0.0.1:8080")
>>> lJHTDB.getData(0.5, points, data_set="isotropic32", sinterp=8, tinterp=1, getFunction="getVelocity")
"""

from __future__ import annotations

import re
from typing import Any, Dict, List, Optional, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import former
from .asking import Version
from .dataset import Dataset
from .service import connect

#: The numbers that pyJHTDB gives to spatial methods; splines M{m}Q{q} are 100 m + q.
_SPATIAL: Dict[int, str] = {0: "None", 4: "Lag4", 6: "Lag6", 8: "Lag8", 40: "None_Fd4", 44: "Fd4Lag4", 60: "None_Fd6", 80: "None_Fd8"}
_TEMPORAL: Dict[int, str] = {0: "None", 1: "PCHIP"}


class libJHTDB:  # noqa: N801 (pyJHTDB's name)
    """The class of pyJHTDB, with the address of a service instead of a compiled library."""

    def __init__(self, auth_token: Optional[str] = None, *, url: str = "http://127.0.0.1:8080") -> None:
        self._url = url
        self._token = auth_token
        self._datasets: Dict[str, Dataset] = {}

    def initialize(self, exit_on_error: bool = True) -> None:
        """Nothing to prepare; here for old notebooks."""

    def finalize(self) -> None:
        """Nothing to give back; here for old notebooks."""

    def add_token(self, token: str) -> None:
        """The token of the calls that follow."""
        self._token = token
        self._datasets.clear()

    def getData(  # noqa: N802
        self,
        time: float,
        points: ArrayLike,
        sinterp: Union[int, str] = 4,
        tinterp: Union[int, str] = 0,
        data_set: str = "isotropic32",
        getFunction: str = "getVelocity",  # noqa: N803
        make_modulo: bool = False,
    ) -> NDArray[np.float32]:
        """Values at points, shape ``(…, components)``; ``make_modulo`` needs nothing, periodic axes wrap anyway."""
        spatial, version, quantities = _name(_spatial, sinterp), Version(), _quantities(getFunction)
        for _, operator in quantities:
            former.check_method(spatial, operator)
        dataset = self._dataset(data_set)
        when = {"time": former.number(dataset, time, "time"), **former.how(spatial, _name(_TEMPORAL.get, tinterp))}
        places = former.places(dataset, points)
        parts = [
            former.components(dataset, field, operator, places, version, **when) for field, operator in quantities
        ]
        return np.concatenate(parts, axis=1).reshape(*places.shape[:-1], -1)

    def getBoxFilter(  # noqa: N802
        self,
        time: float,
        points: ArrayLike,
        data_set: str = "isotropic32",
        field: str = "velocity",
        filter_width: float = 0.0,
    ) -> NDArray[np.float32]:
        """Means over cubes of nodes, as the operation GetBoxFilter; shape ``(…, 3)``, and 0 in y and z for a scalar.

        Points go in parts, as text, to the SOAP interface, which alone has this filter.
        """
        dataset = self._dataset(data_set)
        when, width = former.number(dataset, time, "time"), former.number(dataset, filter_width, "filter_width", "length")
        places = former.places(dataset, points)
        members = {"authToken": self._token or "", "dataset": data_set, "field": field, "time": np.float32(when)}
        members["filterwidth"] = np.float32(width)
        rows = places.reshape(-1, 3).astype(np.float32)
        return dataset.soap_vectors("GetBoxFilter", members, rows).reshape(places.shape)

    def getPosition(  # noqa: N802
        self,
        starttime: float = 0.0,
        endtime: float = 0.1,
        dt: float = 0.0004,
        point_coords: Optional[ArrayLike] = None,
        sinterp: Union[int, str] = 4,
        steps_to_keep: int = 1,
        data_set: str = "isotropic32",
    ) -> Tuple[NDArray[np.float32], np.ndarray]:
        """Positions of shape ``(records, …, 3)`` and their times; ``steps_to_keep`` records after the start, equally spaced."""
        if point_coords is None:
            raise ValueError("point_coords must hold the places where the particles start")
        dataset, method, version = self._dataset(data_set), _name(_spatial, sinterp), Version()
        named = {"starttime": starttime, "endtime": endtime, "dt": dt}
        start, end, step = (former.number(dataset, one, name) for name, one in named.items())
        kept = former.number(dataset, steps_to_keep, "steps_to_keep", "steps_to_keep")
        if not (kept >= 1 and kept == int(kept) and np.isfinite([start, end, step]).all() and step != 0):
            raise ValueError(f"steps_to_keep={steps_to_keep} must be a whole number from 1, dt={dt} not 0, and times finite")
        places = former.places(dataset, point_coords)
        steps, count = abs((end - start) / step), int(kept)
        every = round(steps / count)
        if every > 0 and np.isclose(every * count, steps, rtol=1e-6):
            positions, times = former.records(dataset, places, start, end, step, method, every)
            found = list(np.moveaxis(positions, 1, 0))
        else:
            # As pyJHTDB: each record starts steps of its own, the last of them shortened.
            times = np.linspace(start, end, count + 1)
            found = [places.reshape(-1, 3).astype(np.float32)]
            for span in zip(times[:-1], times[1:]):
                found.append(former.records(dataset, found[-1], *span, step, method, version=version)[0][:, 0])
        return np.stack(found).reshape(len(found), *places.shape), times

    def _dataset(self, name: str) -> Dataset:
        if name not in self._datasets:
            self._datasets[name] = connect(self._url, self._token)[name]
        return self._datasets[name]


def _quantities(function: str) -> List[Tuple[str, str]]:
    """The fields and operators of a name such as getVelocityGradient or getVelocityAndPressure."""
    words = re.fullmatch(r"get(\w+?)(Gradient|Hessian|Laplacian)?", function)
    names = words.group(1).split("And") if words else []
    if not names or any(name not in former.FIELDS for name in names):
        raise ValueError(f"getFunction must be a name such as getVelocity or getPressureHessian, not {function!r}")
    return [(former.FIELDS[name], words.group(2) or "") for name in names]


def _spatial(number: int) -> Optional[str]:
    if number in _SPATIAL:
        return _SPATIAL[number]
    return f"M{number // 100}Q{number % 100}" if number > 100 else None


def _name(names: Any, given: Union[int, str]) -> str:
    if isinstance(given, str):
        return given
    name = names(given)
    if name is None:
        raise ValueError(f"{given} is not the number of an interpolation")
    return str(name)

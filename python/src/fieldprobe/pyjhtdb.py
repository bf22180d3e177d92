"""``libJHTDB`` as notebooks of pyJHTDB call it, answered by a fieldprobe service.

>>> from fieldprobe.pyjhtdb import libJHTDB
>>> lJHTDB = libJHTDB(url="http://127.0.0.1:8080")
>>> lJHTDB.getData(0.5, points, data_set="isotropic32", sinterp=8, tinterp=1, getFunction="getVelocity")
"""

from __future__ import annotations

from typing import Any, Dict, Optional, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike

from .dataset import Dataset, Floats
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
    ) -> Floats:
        """Values at points, shape ``(…, components)``; ``make_modulo`` needs nothing, periodic axes wrap anyway."""
        return self._dataset(data_set).call(
            _operation(getFunction),
            points,
            time=time,
            spatialInterpolation=_name(_spatial, sinterp),
            temporalInterpolation=_name(_TEMPORAL.get, tinterp),
        )

    def getBoxFilter(  # noqa: N802
        self,
        time: float,
        points: ArrayLike,
        data_set: str = "isotropic32",
        field: str = "velocity",
        filter_width: float = 0.0,
    ) -> Floats:
        """Means over cubes of side ``filter_width``, shape ``(…, components)``."""
        return self._dataset(data_set).call("GetBoxFilter", points, field=field, time=time, filterwidth=filter_width)

    def getPosition(  # noqa: N802
        self,
        starttime: float = 0.0,
        endtime: float = 0.1,
        dt: float = 0.0004,
        point_coords: Optional[ArrayLike] = None,
        sinterp: Union[int, str] = 4,
        steps_to_keep: int = 1,
        data_set: str = "isotropic32",
    ) -> Tuple[Floats, np.ndarray]:
        """Positions of shape ``(records, …, 3)`` and their times; ``steps_to_keep`` records after the start."""
        if point_coords is None:
            raise ValueError("point_coords must hold the places where the particles start")
        steps = max(1, round(abs((endtime - starttime) / dt)))
        paths = self._dataset(data_set).trajectories(
            point_coords, starttime, endtime, dt, _name(_spatial, sinterp), every=max(1, steps // steps_to_keep)
        )
        return np.moveaxis(paths.positions, -2, 0), paths.times

    def _dataset(self, name: str) -> Dataset:
        if name not in self._datasets:
            self._datasets[name] = connect(self._url, self._token)[name]
        return self._datasets[name]


def _operation(function: str) -> str:
    if not function.startswith("get"):
        raise ValueError(f"getFunction must be a name such as getVelocity, not {function!r}")
    return f"G{function[1:]}"


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

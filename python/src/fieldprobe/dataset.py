"""``Dataset`` is one dataset of a service: its description, and a method for each call."""

from __future__ import annotations

import math
import re
from typing import Any, Dict, Mapping, NamedTuple, Optional, Tuple
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from .asking import What
from .calls import Calls
from .labelled import array_of, broadcast, check_aligned
from .transport import Transport
from .units import Kind, check_unit

#: Points in one request, unless the service takes fewer.
POINTS_PER_REQUEST = 250_000


#: Dims of components of vectors and tensors in answers to arrays of xarray.
_COMPONENTS = ("component", "direction", "direction_2")


def _is_one(time: Any) -> bool:
    """Whether a time is not given, or one number."""
    if isinstance(time, str):
        return re.fullmatch(r"\s*[-+\d.eE]+\s*", time) is not None
    return time is None or (not isinstance(time, (slice, range)) and np.ndim(time) == 0)


class Axis(NamedTuple):
    """One axis of the grid: its name, its number of nodes, and where its domain begins and how long it is."""

    name: str
    nodes: int
    first: float
    length: float
    periodic: bool


class Dataset(Calls):
    """One dataset of a service: ``service["isotropic32"]``.

    Each call is a method (``values``, ``grid``, …). ``submit`` runs any of them as a job, and ``ask`` returns any form as bytes.
    """

    def __init__(self, transport: Transport, description: Mapping[str, Any], limit: int) -> None:
        self._transport = transport
        self._points = min(POINTS_PER_REQUEST, limit)
        self._description: Dict[str, Any] = dict(description)
        #: The manifest of the answer for which the description was asked.
        self._described = str(description["digest"])

    @property
    def name(self) -> str:
        """The name of the dataset."""
        return str(self._description["name"])

    @property
    def description(self) -> Dict[str, Any]:
        """What the service says of the dataset: axes, times, fields, units, source, warnings; of the last answer's data."""
        found = self._found
        if found not in (None, self._described):
            self._description = self._transport.get(f"/api/datasets/{quote(self.name, safe='')}").json()
            self._described = found
        return self._description

    @property
    def digest(self) -> str:
        """The SHA-256 that identifies the data of the last answer."""
        return str(self.description["digest"])

    @property
    def times(self) -> NDArray[np.float64]:
        """The stored times."""
        return np.asarray(self.description["times"]["stored"], dtype=np.float64)

    def _check_unit(self, kind: Kind, stated: str) -> None:
        """Raises ValueError for a unit that numbers of a kind do not have in the dataset."""
        check_unit(self.name, self.description, kind, stated)

    def _times_of(self, group: Mapping[str, Any]) -> int:
        """The number of times of a question: of a list, of a range, or of all."""
        ((name, given),) = group.items() or (("frame", 0),)
        if isinstance(given, list):
            return len(given)
        if not isinstance(given, str) or given.startswith("each"):
            return 1
        stored = self.times
        if given == "all":
            return max(1, len(stored))
        if ":" not in given:
            return len(given.split(","))
        try:
            first, last, *step = (float(part) if part else None for part in given.split(":"))
        except ValueError:
            return 1  # The service says what is wrong.
        first = 0.0 if first is None else first
        if name == "frame":
            count = ((len(stored) if last is None else last) - first) / ((step[0] if step else None) or 1)
        elif step and step[0] and last is not None:
            count = (last - first) / step[0] + 1
        else:
            count = np.count_nonzero((stored >= first) & (stored <= (np.inf if last is None else last)))
        return max(1, math.ceil(count))

    @property
    def axes(self) -> Tuple[Axis, ...]:
        """The axes of the grid: x, y, z."""
        keys = ("name", "nodes", "first", "length", "periodic")
        return tuple(Axis(*(axis[key] for key in keys)) for axis in self.description["axes"])

    def __repr__(self) -> str:
        nodes = " x ".join(str(axis.nodes) for axis in self.axes)
        return f"<dataset {self.name}: {nodes} nodes, {len(self.times)} times>"

    def interp(self, what: What, *, x: Any, y: Any, z: Any, t: Any = None, **members: Any) -> Any:
        """Quantities at coordinates that broadcast against each other as in xarray or numpy.

        With xarray's DataArrays the dimensions are matched by name and the answer is a DataArray; with anything else
        the arrays broadcast by shape and the answer is a numpy array. Several quantities are a dict of them.

        Args:
            what: as in ``values``.
            t: times; an array gives each point its own.
            members: further members of ``values``.
        """
        if t is not None and any(members.get(name) is not None for name in ("time", "frame")):
            raise ValueError("t is the time: leave out time and frame")
        coordinates = (x, y, z) if t is None else (x, y, z, t)
        for one, kind in zip(coordinates, ("length", "length", "length", "time")):
            array_of(one, self._check_unit, kind)
        check_aligned(coordinates)
        labels = None
        if any(hasattr(one, "dims") for one in coordinates):
            several = [name for name in ("time", "frame") if not _is_one(members.get(name))]
            if several:
                raise ValueError(f"with DataArrays {several[0]} is one number: give several times as t, a DataArray with a dim of its own")
            coordinates = broadcast(coordinates)
            labels = coordinates[0]
            taken = [dim for dim in labels.dims if dim in _COMPONENTS]
            if taken:
                raise ValueError(f"rename the dim {taken[0]}: the answer has one of that name for its components")
        if t is not None and np.ndim(t) == 0:
            coordinates, members = coordinates[:3], {**members, "time": t}
        elif t is not None:
            members = {**members, "time": "each"}
        points = np.stack(np.broadcast_arrays(*map(array_of, coordinates)), axis=-1)
        values = self.values(what, points, **members)
        if labels is None:
            return values

        def labelled(array: Any, name: Any) -> Any:
            import xarray

            dims = (*labels.dims, *_COMPONENTS[: array.ndim - labels.ndim])
            coords = {one: labels.coords[one] for one in labels.dims if one in labels.coords}
            return xarray.DataArray(array, dims=dims, coords=coords, name=name)

        if isinstance(values, dict):
            return {name: labelled(array, name) for name, array in values.items()}
        return labelled(values, what if isinstance(what, str) else None)

    def zarr(self, group: Optional[str] = None, compressed: bool = False) -> Any:
        """The dataset as an ``xarray.Dataset``, whose chunks are fetched when they are read.

        Needs xarray, zarr, fsspec and aiohttp; with dask the arrays are lazy dask arrays. Chunks are of the version that
        is opened: once the dataset is replaced, reading more of them fails with status 412 (in zarr 2 they are NaN).

        Args:
            group: ``"derived"`` for quantities computed at nodes (vorticity, Q, dissipation, …); stored fields by default.
            compressed: whether chunks travel compressed by Zstandard, which pays on slow networks.
        """
        import xarray

        store = f"{self._transport.url}/zarr/{quote(self.name, safe='')}{'@zstd' if compressed else ''}"
        described = self._transport.get(f"/api/datasets/{quote(self.name, safe='')}").json()
        headers = {**self._transport.authorization, "Fieldprobe-Manifest": str(described["digest"])}
        options = {"client_kwargs": {"headers": headers}}
        return xarray.open_zarr(store, group=group, consolidated=True, storage_options=options)

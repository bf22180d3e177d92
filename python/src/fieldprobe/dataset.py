"""``Dataset`` asks for the values of one dataset: points in, numpy arrays of the same shape out."""

from __future__ import annotations

import json
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, TypedDict, Union
from urllib.parse import quote

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .transport import Answer, Transport

Floats = NDArray[np.float32]
Progress = Union[bool, Callable[[int, int], None]]

#: Points in one request, unless the service takes fewer.
POINTS_PER_REQUEST = 250_000
OCTETS = "application/octet-stream"
#: Places of the six numbers of a symmetric tensor (xx, xy, xz, yy, yz, zz) in its matrix.
_SYMMETRIC = np.array([[0, 1, 2], [1, 3, 4], [2, 4, 5]])
#: The same for the order xx, yy, zz, xy, xz, yz of subgrid-scale stresses.
_STRESS = np.array([[0, 3, 4], [3, 1, 5], [4, 5, 2]])


class Axis(NamedTuple):
    """One axis of the grid: its name, its number of nodes, and where its domain begins and how long it is."""

    name: str
    nodes: int
    first: float
    length: float
    periodic: bool


class Region(TypedDict, total=False):
    """A box along x, y and z, or along the columns and rows of a slice, stated in one of two ways.

    By lengths: ``origin`` holds the lowest coordinates, ``extent`` the lengths. By nodes: ``start`` holds the first
    nodes, counted from 0, ``end`` the nodes after the last, ``step`` the strides; by default 0, the number of nodes,
    and 1. On a periodic axis, a box may continue across the seam.
    """

    origin: Sequence[float]
    extent: Sequence[float]
    start: Sequence[int]
    end: Sequence[int]
    step: Sequence[int]


class Sampled(NamedTuple):
    """Values on a regular grid: an array in C order (z, y, x or rows, columns) and the coordinates of its axes."""

    values: Floats
    axes: Tuple[str, ...]
    coordinates: Tuple[NDArray[np.float64], ...]


class Paths(NamedTuple):
    """Recorded positions of particles, shape ``(…, records, 3)``, and the times of the records."""

    positions: Floats
    times: NDArray[np.float64]


class Dataset:
    """One dataset of a service. ``service["isotropic32"]`` makes it.

    Points are arrays of any shape ``(…, 3)`` in the dataset's units; the answers have shape ``(…)`` for scalars,
    ``(…, 3)`` for vectors and ``(…, 3, 3)`` for tensors. The service takes coordinates as float32 and answers in
    float32. A time is a number, or an array that broadcasts against the points' shape.
    """

    def __init__(self, transport: Transport, path: str, description: Mapping[str, Any], limit: int) -> None:
        self._transport = transport
        self._path = path
        self._points = min(POINTS_PER_REQUEST, limit)
        self._operations: Dict[str, Mapping[str, Any]] = {one["name"]: one for one in description["operations"]}
        #: What the service says of the dataset: axes, times, fields, units, source, warnings.
        self.description = dict(description)

    @property
    def name(self) -> str:
        return str(self.description["name"])

    @property
    def digest(self) -> str:
        """The SHA-256 that identifies the data."""
        return str(self.description["digest"])

    @property
    def times(self) -> NDArray[np.float64]:
        """The stored times."""
        return np.asarray(self.description["times"]["stored"], dtype=np.float64)

    @property
    def axes(self) -> Tuple[Axis, ...]:
        keys = ("name", "nodes", "first", "length", "periodic")
        return tuple(Axis(*(axis[key] for key in keys)) for axis in self.description["axes"])

    @property
    def operations(self) -> List[str]:
        """Operations that this dataset has data for."""
        return [name for name, one in self._operations.items() if one["available"]]

    def __repr__(self) -> str:
        nodes = " x ".join(str(axis.nodes) for axis in self.axes)
        return f"<dataset {self.name}: {nodes} nodes, {len(self.times)} times>"

    # Values at points

    def velocity(self, points: ArrayLike, t: ArrayLike, method: str = "Lag6", time: str = "PCHIP", **options: Any) -> Floats:
        """Velocity at points, shape ``(…, 3)``. Further options: see :meth:`call`."""
        return self._at("GetVelocity", points, t, method, time, options)

    def pressure(self, points: ArrayLike, t: ArrayLike, method: str = "Lag6", time: str = "PCHIP", **options: Any) -> Floats:
        """Pressure at points, shape ``(…)``."""
        return self._at("GetPressure", points, t, method, time, options)[..., 0]

    def force(self, points: ArrayLike, t: ArrayLike, method: str = "Lag6", time: str = "PCHIP", **options: Any) -> Floats:
        """Body force at points, shape ``(…, 3)``."""
        return self._at("GetForce", points, t, method, time, options)

    def density(self, points: ArrayLike, t: ArrayLike, method: str = "Lag6", time: str = "PCHIP", **options: Any) -> Floats:
        """Density at points, shape ``(…)``."""
        return self._at("GetDensity", points, t, method, time, options)[..., 0]

    def temperature(self, points: ArrayLike, t: ArrayLike, method: str = "Lag6", time: str = "PCHIP", **options: Any) -> Floats:
        """Temperature at points, shape ``(…)``."""
        return self._at("GetTemperature", points, t, method, time, options)[..., 0]

    def magnetic_field(self, points: ArrayLike, t: ArrayLike, method: str = "Lag6", time: str = "PCHIP", **options: Any) -> Floats:
        """Magnetic field at points, shape ``(…, 3)``."""
        return self._at("GetMagneticField", points, t, method, time, options)

    def velocity_gradient(self, points: ArrayLike, t: ArrayLike, method: str = "Fd4Lag4", time: str = "PCHIP", **options: Any) -> Floats:
        """Gradient of velocity, shape ``(…, 3, 3)``: element ``[i, j]`` is du_i/dx_j."""
        values = self._at("GetVelocityGradient", points, t, method, time, options)
        return values.reshape(*values.shape[:-1], 3, 3)

    def pressure_gradient(self, points: ArrayLike, t: ArrayLike, method: str = "Fd4Lag4", time: str = "PCHIP", **options: Any) -> Floats:
        """Gradient of pressure, shape ``(…, 3)``."""
        return self._at("GetPressureGradient", points, t, method, time, options)

    def velocity_hessian(self, points: ArrayLike, t: ArrayLike, method: str = "Fd4Lag4", time: str = "PCHIP", **options: Any) -> Floats:
        """Second derivatives of velocity, shape ``(…, 3, 3, 3)``: ``[i, j, k]`` is d2u_i/dx_j dx_k."""
        values = self._at("GetVelocityHessian", points, t, method, time, options)
        return values.reshape(*values.shape[:-1], 3, 6)[..., _SYMMETRIC]

    def pressure_hessian(self, points: ArrayLike, t: ArrayLike, method: str = "Fd4Lag4", time: str = "PCHIP", **options: Any) -> Floats:
        """Second derivatives of pressure, shape ``(…, 3, 3)``."""
        return self._at("GetPressureHessian", points, t, method, time, options)[..., _SYMMETRIC]

    def velocity_laplacian(self, points: ArrayLike, t: ArrayLike, method: str = "Fd4Lag4", time: str = "PCHIP", **options: Any) -> Floats:
        """Laplacian of velocity, shape ``(…, 3)``."""
        return self._at("GetVelocityLaplacian", points, t, method, time, options)

    def field(self, name: str, points: ArrayLike, t: ArrayLike, method: str = "Lag6", time: str = "PCHIP", **options: Any) -> Floats:
        """Any field by its name, such as ``"sgsenergy"``: shape ``(…)`` of a scalar, ``(…, 3)`` of a vector.

        ``description["fields"]`` lists the names.
        """
        values = self._at("GetField", points, t, method, time, {**options, "field": name})
        return values[..., 0] if values.shape[-1] == 1 else values

    def field_gradient(
        self, name: str, points: ArrayLike, t: ArrayLike, method: str = "Fd4Lag4", time: str = "PCHIP", **options: Any
    ) -> Floats:
        """Gradient of any field, shape ``(…, 3)`` of a scalar, ``(…, 3, 3)`` of a vector: ``[i, j]`` is du_i/dx_j."""
        values = self._at("GetFieldGradient", points, t, method, time, {**options, "field": name})
        return values if values.shape[-1] == 3 else values.reshape(*values.shape[:-1], 3, 3)

    def filtered_velocity(self, points: ArrayLike, t: ArrayLike, width: float, time: str = "None", **options: Any) -> Floats:
        """Mean velocity of the cube of side ``width`` around each point, shape ``(…, 3)``."""
        return self._filtered("GetBoxFilterVelocity", points, t, width, time, options)

    def subgrid_stress(self, points: ArrayLike, t: ArrayLike, width: float, time: str = "None", **options: Any) -> Floats:
        """Subgrid-scale stress of the box filter of side ``width``, shape ``(…, 3, 3)``."""
        return self._filtered("GetBoxFilterSGSStress", points, t, width, time, options)[..., _STRESS]

    def call(
        self,
        operation: str,
        points: Optional[ArrayLike] = None,
        *,
        progress: Progress = False,
        **parameters: Any,
    ) -> Floats:
        """Run any operation by its name and parameters, which ``description["operations"]`` lists.

        Args:
            operation: for example ``"GetBoxFilterVelocityGradient"``.
            points: shape ``(…, 3)``; any number of them, sent in parts. An operation on nodes has none.
            progress: True shows a bar if tqdm is installed; a function gets the counts of finished and of all points.
            parameters: sent as they are; an array of shape ``(…, 3)`` (``InitialV``) goes with the points.

        Returns:
            Shape ``(…, components)``, or ``(…, boxes, components)`` for filters with several layers; float32.

        Raises:
            ServiceError: with the parameter in ``member`` if one is wrong.
            ServiceUnreachable: if the connection breaks too often.
        """
        path = f"{self._path}/{operation}"
        if points is None:
            body = json.dumps(parameters).encode()
            return _floats(self._transport.post(path, body, "application/json", accept=OCTETS))
        lists = [_triples("points", points)]
        scalars: Dict[str, Any] = {}
        for name, value in parameters.items():
            if np.ndim(value) > 0:
                lists.append(_triples(name, value))
            else:
                scalars[name] = value
        if any(one.shape != lists[0].shape for one in lists):
            raise ValueError(f"{operation}: all lists need the shape of the points, {lists[0].shape}")
        shape = lists[0].shape[:-1]
        flat = np.concatenate([one.reshape(-1, 3) for one in lists], axis=1)
        parts = [
            _floats(self._transport.post(path, flat[at : at + self._points].tobytes(), OCTETS, scalars, OCTETS))
            for at in _steps(len(flat), self._points, progress)
        ]
        values = np.concatenate(parts)
        return values.reshape(*shape, *values.shape[1:])

    # Particles

    def position(self, points: ArrayLike, start: float, end: float, dt: float, method: str = "Lag6", **options: Any) -> Floats:
        """Where particles that start at the points have been carried at the end time, shape ``(…, 3)``.

        ``dt`` is the length of a step; it is negative if the end lies before the start.
        """
        return self.call(
            "GetPositionByEnd", points, StartTime=start, EndTime=end, dt=dt, spatialInterpolation=self._method("GetPosition", method), **options
        )

    def trajectories(
        self,
        points: ArrayLike,
        start: float,
        end: float,
        dt: float,
        method: str = "Lag6",
        every: int = 1,
        progress: Progress = False,
        **options: Any,
    ) -> Paths:
        """Recorded positions of particles on their way, one every ``every`` steps, the start and the end included."""
        query = {
            "operation": "GetPositionByEnd",
            "every": every,
            "StartTime": start,
            "EndTime": end,
            "dt": dt,
            "spatialInterpolation": self._method("GetPosition", method),
            **options,
        }
        seeds = _triples("points", points)
        flat = seeds.reshape(-1, 3)
        parts: List[Floats] = []
        first, interval, last = 0.0, 0.0, 0.0
        for at in _steps(len(flat), self._points, progress):
            body = flat[at : at + self._points].tobytes()
            answer = self._transport.post(f"{self._path}/trajectories", body, OCTETS, query, OCTETS)
            parts.append(_floats(answer))
            first, interval, last = (float(text) for text in answer.headers["fieldprobe-times"].split(","))
        positions = np.concatenate(parts)
        times = first + interval * np.arange(positions.shape[1], dtype=np.float64)
        times[-1] = last
        return Paths(positions.reshape(*seeds.shape[:-1], *positions.shape[1:]), times)

    # Grids

    def slice(
        self,
        quantity: str,
        t: float,
        axis: str,
        at: float,
        nodes: Optional[Sequence[int]] = None,
        region: Optional[Region] = None,
        **options: Any,
    ) -> Sampled:
        """A quantity on a plane at right angles to ``axis``, or in a ``region`` of it (columns, rows).

        ``nodes`` are the samples along columns and rows.
        """
        query = {"field": quantity, "time": t, "axis": axis, "at": at, **_region(region)}
        return self._sampled("slice", query, nodes, options)

    def volume(
        self,
        quantity: str,
        t: float,
        nodes: Optional[Sequence[int]] = None,
        region: Optional[Region] = None,
        **options: Any,
    ) -> Sampled:
        """A quantity in the whole domain, or in a region (``{"origin": (0, 0, 0), "extent": (1, 1, 1)}``)."""
        return self._sampled("volume", {"field": quantity, "time": t, **_region(region)}, nodes, options)

    def cutout(self, field: str, frame: int, region: Optional[Region] = None) -> Floats:
        """Stored values of nodes, bit for bit, shape ``(z, y, x, components)``.

        Args:
            field: any field of the dataset by its name, or ``u``, ``p``, ``b`` (magnetic), ``a`` (vector potential),
                ``d`` (density) or ``t`` (temperature).
            frame: number of the stored frame, from 1.
            region: the nodes, such as ``{"start": (30, 0, 0), "end": (34, 8, 8), "step": (1, 2, 2)}``; all by default.
        """
        query = {"field": field, "T": frame, **_region(region)}
        return _floats(self._transport.get(f"{self._path}/cutout", query, OCTETS))

    def interp(self, *, x: Any, y: Any, z: Any, t: Any, of: str = "velocity", **options: Any) -> Any:
        """Values at coordinates that broadcast against each other as in xarray or numpy.

        With xarray's DataArrays the dimensions are matched by name and the answer is a DataArray; with anything else
        the arrays broadcast by shape and the answer is a numpy array.

        Args:
            of: the name of one of the methods above that take points and ``t``; ``of="field"`` goes with ``name=``.
        """
        ask = getattr(self, of, None)
        if of.startswith("_") or not callable(ask):
            raise ValueError(f"of must name a method such as velocity, not {of!r}")
        coordinates = (x, y, z, t)
        if not any(hasattr(one, "dims") for one in coordinates):
            xs, ys, zs, ts = np.broadcast_arrays(*coordinates)
            return ask(points=np.stack([xs, ys, zs], axis=-1), t=ts, **options)
        import xarray

        broadcast = xarray.broadcast(*(xarray.DataArray(one) for one in coordinates))
        xs, ys, zs, ts = (one.values for one in broadcast)
        values = ask(points=np.stack([xs, ys, zs], axis=-1), t=ts, **options)
        extra = values.ndim - xs.ndim
        dims = (*broadcast[0].dims, *("component", "direction", "direction_2")[:extra])
        coords = {name: broadcast[0].coords[name] for name in broadcast[0].dims if name in broadcast[0].coords}
        return xarray.DataArray(values, dims=dims, coords=coords, name=options.get("name", of))

    def zarr(self, group: Optional[str] = None, compressed: bool = False) -> Any:
        """The dataset as an ``xarray.Dataset``, whose chunks are fetched when they are used.

        Needs xarray, zarr, fsspec and aiohttp; with dask the arrays are lazy dask arrays.

        Args:
            group: ``"derived"`` for quantities computed at nodes (vorticity, Q, dissipation, …); stored fields by default.
            compressed: whether chunks travel compressed by Zstandard, which pays on slow networks.
        """
        import xarray

        store = f"{self._transport.url}/zarr/{quote(self.name, safe='')}{'@zstd' if compressed else ''}"
        options = {"client_kwargs": {"headers": self._transport.authorization}}
        return xarray.open_zarr(store, group=group, consolidated=True, storage_options=options)

    # Analysis

    def analyse(self, operation: str, **parameters: Any) -> Dict[str, Any]:
        """Run an analysis on the service, for example ``analyse("statistics", time=0.6, reduce=[…])``; returns its JSON."""
        body = json.dumps(parameters).encode()
        answer: Dict[str, Any] = self._transport.post(f"{self._path}/{operation}", body, "application/json").json()
        return answer

    def statistics(self, reduce: Sequence[Mapping[str, Any]], **parameters: Any) -> List[Dict[str, Any]]:
        """Reductions (moments, covariances, histograms, …) of whole frames or regions, one result for each."""
        results: List[Dict[str, Any]] = self.analyse("statistics", reduce=list(reduce), **parameters)["results"]
        return results

    # How the calls above are made

    def _at(self, operation: str, points: ArrayLike, t: ArrayLike, method: str, time: str, options: Dict[str, Any]) -> Floats:
        options["spatialInterpolation"] = self._method(operation, method)
        options["temporalInterpolation"] = _one_of("time", time, ("None", "PCHIP"))
        return self._timed(operation, points, t, options)

    def _filtered(self, operation: str, points: ArrayLike, t: ArrayLike, width: float, time: str, options: Dict[str, Any]) -> Floats:
        options.update(filterlength=width, nlayers=1, temporalInterpolation=_one_of("time", time, ("None", "PCHIP")))
        return self._timed(operation, points, t, options)

    def _method(self, operation: str, method: str) -> str:
        """The service's spelling of a method, whatever the case it is given in; unknown ones are left to the service."""
        known = self._operations.get(operation, {}).get("spatialInterpolation", ())
        return next((name for name in known if name.lower() == method.lower()), method)

    def _timed(self, operation: str, points: ArrayLike, t: ArrayLike, options: Dict[str, Any]) -> Floats:
        """Values at points with a time each: one call for each of the different times."""
        places = _triples("points", points)
        times = np.asarray(t, dtype=np.float64)
        if times.ndim == 0:
            return self.call(operation, places, time=float(times), **options)
        shape = np.broadcast_shapes(places.shape[:-1], times.shape)
        flat = np.broadcast_to(places, (*shape, 3)).reshape(-1, 3)
        each = np.broadcast_to(times, shape).reshape(-1)
        if each.size == 0:
            raise ValueError("points must hold at least one point")
        values: Optional[Floats] = None
        for time in np.unique(each):
            chosen = each == time
            part = self.call(operation, flat[chosen], time=float(time), **options)
            if values is None:
                values = np.empty((len(each), *part.shape[1:]), dtype=np.float32)
            values[chosen] = part
        assert values is not None
        return values.reshape(*shape, *values.shape[1:])

    def _sampled(self, kind: str, query: Dict[str, Any], nodes: Optional[Sequence[int]], options: Dict[str, Any]) -> Sampled:
        if nodes is not None:
            query["nodes"] = ",".join(str(count) for count in nodes)
        answer = self._transport.get(f"{self._path}/{kind}", {**query, **options}, OCTETS)
        values = _floats(answer)
        names = tuple(answer.headers["fieldprobe-axes"].split(","))
        origin, spacing = ([float(text) for text in answer.headers[f"fieldprobe-{key}"].split(",")] for key in ("origin", "spacing"))
        coordinates = tuple(
            first + step * np.arange(count, dtype=np.float64) for first, step, count in zip(origin, spacing, values.shape)
        )
        return Sampled(values, names, coordinates)


def _one_of(name: str, value: str, allowed: Sequence[str]) -> str:
    for one in allowed:
        if one.lower() == value.lower():
            return one
    raise ValueError(f"{name} must be one of {', '.join(allowed)}, not {value!r}")


def _region(region: Optional[Region]) -> Dict[str, str]:
    """The members of a query string that state a region."""
    if region is None:
        return {}
    if not isinstance(region, Mapping):
        raise TypeError(f"region must be a mapping with origin and extent, or start, end and step, not {region!r}")
    return {f"region.{name}": ",".join(str(one) for one in np.ravel(numbers)) for name, numbers in region.items()}


def _triples(name: str, values: ArrayLike) -> Floats:
    """Values as little-endian float32 triples; the rounding is that of the service's own interface."""
    array = np.asarray(values)
    if array.ndim == 0 or array.shape[-1] != 3:
        raise ValueError(f"{name} must have the shape (…, 3), not {array.shape}")
    if array.size == 0:
        raise ValueError(f"{name} must hold at least one point")
    if not (np.issubdtype(array.dtype, np.floating) or np.issubdtype(array.dtype, np.integer)):
        raise TypeError(f"{name} must be numbers, not {array.dtype}")
    return np.ascontiguousarray(array, dtype="<f4")


def _floats(answer: Answer) -> Floats:
    shape = tuple(int(text) for text in answer.headers["fieldprobe-shape"].split(","))
    return np.frombuffer(answer.body, dtype="<f4").reshape(shape).astype(np.float32)


def _steps(total: int, step: int, progress: Progress) -> "Any":
    """The first points of the parts of a call; tells of the progress after each."""
    starts = range(0, total, step)
    if callable(progress):
        for at in starts:
            yield at
            progress(min(at + step, total), total)
        return
    if progress:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            tqdm = None
        if tqdm is not None:
            with tqdm(total=total, unit="points", unit_scale=True) as bar:
                for at in starts:
                    yield at
                    bar.update(min(at + step, total) - at)
            return
    yield from starts

"""Questions by the table of calls: a method a call, numpy in and out.

``Asking`` gives :class:`fieldprobe.Dataset` these methods. Members have the names of docs/asking.md; a value is a number, a
text, a list, a numpy array or scalar, a ``slice`` (for ranges), or ``None`` for what is not given.
"""

from __future__ import annotations

import io
import json
import re
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .transport import Answer, Transport

What = Union[str, Sequence[str]]
OCTETS = "application/octet-stream"
JSON = "application/json"
_SUFFIX = re.compile(r"(\.[xyz]|(\[\d\])+)$")


def _plain(value: Any) -> Any:
    """A value as JSON holds it."""
    if isinstance(value, slice):
        parts = [value.start, value.stop] + ([] if value.step is None else [value.step])
        return ":".join("" if part is None else str(_plain(part)) for part in parts)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items() if one is not None}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(_plain(value))


def _members(given: Mapping[str, Any]) -> Dict[str, Any]:
    return {name: _plain(value) for name, value in given.items() if value is not None}


class Grid:
    """Arrays on a grid: ``arrays`` by name, their ``dims`` in order, ``coords`` by dimension, and the ``question``."""

    def __init__(self, answer: Mapping[str, Any]) -> None:
        self.dims: Tuple[str, ...] = tuple(answer["dims"])
        self.coords: Dict[str, Any] = {name: np.asarray(value) for name, value in answer["coords"].items()}
        self.units: Dict[str, str] = dict(answer.get("units", {}))
        self.arrays: Dict[str, NDArray[np.float32]] = {
            name: np.asarray(value, dtype=np.float32) for name, value in answer["data"].items()
        }
        self.question: Dict[str, Any] = dict(answer["question"])

    def __getitem__(self, name: str) -> NDArray[np.float32]:
        return self.arrays[name]

    def __repr__(self) -> str:
        return f"<grid of {', '.join(self.arrays)} along {', '.join(self.dims)}>"

    def to_xarray(self) -> Any:
        """The grid as an ``xarray.Dataset``; needs xarray."""
        import xarray

        variables = {}
        for name, array in self.arrays.items():
            extra = [f"component_{d}" for d in range(array.ndim - len(self.dims))]
            variables[name] = ((*self.dims, *extra), array, {"units": self.units[name]} if name in self.units else {})
        coords = {name: (name, value) if value.ndim else value for name, value in self.coords.items()}
        return xarray.Dataset(variables, coords=coords, attrs={"question": json.dumps(self.question)})

    def plot(self, name: Optional[str] = None) -> Any:
        """A picture of a plane; needs xarray and matplotlib."""
        return self.to_xarray()[name or next(iter(self.arrays))].plot()


class Table(Dict[str, Any]):
    """The answer of an analysis: the members of its JSON."""

    #: The same as CSV.
    csv: str = ""

    def to_pandas(self) -> Any:
        """The table as a ``pandas.DataFrame``; needs pandas."""
        import pandas

        return pandas.read_csv(io.StringIO(self.csv))


class Rows(Dict[str, NDArray[Any]]):
    """Columns of rows by name, in their order; ``question`` and what stands beside the rows are attributes."""

    question: Dict[str, Any]
    total: Optional[int] = None

    def to_pandas(self) -> Any:
        """The rows as a ``pandas.DataFrame``; needs pandas."""
        import pandas

        return pandas.DataFrame(dict(self))


class Asking:
    """The calls of the table, for a dataset whose ``_transport`` and ``_path`` are known."""

    _transport: Transport
    _path: str
    _points: int

    def ask(self, call: str, what: Optional[What] = None, *, format: str = "json", **members: Any) -> Answer:
        """Any call in any form: the answer as bytes with its headers."""
        body = _members({"what": what, "format": format, **members})
        return self._transport.post(f"{self._path}/{call}", json.dumps(body).encode(), JSON, None, "*/*")

    def values(self, what: What, points: Any, **members: Any) -> Any:
        """Quantities at points of shape ``(…, 3)``, or ``(…, 4)`` with ``time="each"``.

        One quantity is an array, a list of them a dict of arrays, of shape ``(…)``, ``(…, 3)`` or ``(…, 3, 3)``; several
        times come first. Large sets of points are split and joined.
        """
        names = [what] if isinstance(what, str) else list(what)
        if isinstance(points, Mapping):
            found = self._columns(self.ask("values", names, points=points, **members).json(), names)
            return found[names[0]] if isinstance(what, str) else found
        given = np.asarray(points, dtype=np.float32)
        flat = np.ascontiguousarray(given.reshape(-1, given.shape[-1]))
        query = {name: _text(value) for name, value in _members({"what": names, **members}).items()}
        parts: List[Dict[str, NDArray[np.float32]]] = []
        for at in range(0, max(1, len(flat)), self._points):
            some = flat[at : at + self._points]
            one = {}
            for name in names:
                head = {**query, "what": json.dumps([name]), "format": "npy"}
                answer = self._transport.post(f"{self._path}/values", some.tobytes(), OCTETS, head, "application/x-npy")
                one[name] = np.load(io.BytesIO(answer.body))
            parts.append(one)
        times = "time" in members and not np.isscalar(members["time"]) and members["time"] != "each"
        axis = 1 if times else 0
        joined = {name: np.concatenate([part[name] for part in parts], axis=axis) for name in names}
        shape = given.shape[:-1]
        shaped = {
            name: array.reshape(*array.shape[:axis], *shape, *array.shape[axis + 1 :]) for name, array in joined.items()
        }
        return shaped[names[0]] if isinstance(what, str) else shaped

    def grid(self, what: What, **members: Any) -> Grid:
        """Samples on a volume, a plane (one of ``x``, ``y``, ``z`` a number) or a line."""
        return Grid(self.ask("grid", what, **members).json())

    def nodes(self, what: What, **members: Any) -> Grid:
        """Stored nodes of a region: fields as they lie, or any quantity at nodes."""
        return Grid(self.ask("nodes", what, **members).json())

    def flow_map(self, what: Optional[What] = None, **members: Any) -> Grid:
        """Map, gradient and FTLE of particles that start on a plane or in a box."""
        return Grid(self.ask("flow_map", what, **members).json())

    def find(self, where: Optional[str] = None, what: Optional[What] = None, **members: Any) -> Rows:
        """Nodes where a condition holds, by the first quantity, largest first."""
        return self._rows(self.ask("find", what, where=where, **members).json())

    def paths(self, points: Any, what: Optional[What] = None, **members: Any) -> Rows:
        """Particles from points over an interval of ``time``, with quantities along them."""
        return self._rows(self.ask("paths", what, points=points, **members).json())

    def statistics(self, what: Optional[What] = None, **members: Any) -> Table:
        """Moments of quantities, or the reductions of ``reduce``."""
        return self._table("statistics", what, members)

    def spectrum(self, what: Optional[What] = None, **members: Any) -> Table:
        """Spectra of whole frames."""
        return self._table("spectrum", what, members)

    def structure_functions(self, what: Optional[What] = None, **members: Any) -> Table:
        """Moments of increments along axes."""
        return self._table("structure_functions", what, members)

    def structures(self, where: str, what: Optional[What] = None, **members: Any) -> Table:
        """Connected sets of nodes where a condition holds."""
        return self._table("structures", what, {"where": where, **members})

    def dispersion(self, points: Any, **members: Any) -> Table:
        """Statistics of paths."""
        return self._table("dispersion", None, {"points": points, **members})

    def _table(self, call: str, what: Optional[What], members: Mapping[str, Any]) -> Table:
        table = Table(self.ask(call, what, **members).json())
        table.csv = self.ask(call, what, **{**members, "format": "csv"}).body.decode()
        return table

    @staticmethod
    def _rows(answer: Mapping[str, Any]) -> Rows:
        names = [column["name"] for column in answer["columns"]]
        columns = list(zip(*answer["rows"])) or [() for _ in names]
        rows = Rows((name, np.array([np.nan if one is None else one for one in column])) for name, column in zip(names, columns))
        rows.question = dict(answer["question"])
        rows.total = answer.get("total")
        return rows

    @staticmethod
    def _columns(answer: Mapping[str, Any], names: Sequence[str]) -> Dict[str, NDArray[np.float32]]:
        """Quantities out of the columns of rows."""
        titles = [column["name"] for column in answer["columns"]]
        rows = np.array([[np.nan if one is None else one for one in row] for row in answer["rows"]], dtype=np.float32)
        found: Dict[str, NDArray[np.float32]] = {}
        for name in names:
            own = name.split("=")[0].strip() if re.match(r"\s*[A-Za-z_]\w*\s*=(?!=)", name) else name.strip()
            places = [c for c, title in enumerate(titles) if title == own or _SUFFIX.sub("", title) in (own, f"({own})")]
            array = rows[:, places]
            found[name] = array[:, 0] if len(places) == 1 else array.reshape(len(rows), *(3,) * round(np.log(len(places)) / np.log(3)))
        return found

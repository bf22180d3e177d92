"""How questions are sent and how their answers become numpy arrays. ``calls.py`` has the calls themselves."""

from __future__ import annotations

import io
import json
import math
import re
import zipfile
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Union
from urllib.parse import quote
from xml.etree import ElementTree
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray

from .errors import DatasetReplaced, FieldprobeError
from .labelled import CheckUnit, array_of, has_names, is_rows, points_of
from .transport import Answer, Transport
from .units import Kind, Of, kind_of

What = Union[str, Sequence[str]]
Progress = Union[bool, Callable[[int, int], None]]

#: Of the elements of the SOAP interface.
_NAMESPACE = "http://turbulence.pha.jhu.edu/"
JSON, NPY, ZARR = "application/json", "application/x-npy", "application/vnd.zarr+zip"
#: Rows of points that go into JSON; more go as a body of their own.
_FEW = 1000
#: Times that go into an address.
_TIMES = 150
_PARTS = re.compile(r"(\.[xyz]|(\[\d\])+)$")


def plain(value: Any, check: Optional[CheckUnit] = None, kind: Kind = "") -> Any:
    """A value as JSON holds it: slices as ranges, arrays and ranges as lists, numpy scalars as numbers.

    Raises ValueError for what JSON does not hold, and for units that `check` refuses.
    """
    if isinstance(value, slice):
        parts = [value.start, value.stop] + ([] if value.step is None else [value.step])
        return ":".join("" if part is None else str(plain(part, check, kind)) for part in parts)
    if hasattr(value, "__array__") and not isinstance(value, (str, bytes)):
        return array_of(value, check, kind).tolist()
    if isinstance(value, Mapping):
        return {key: plain(one, check, kind_of(key, value)) for key, one in value.items() if one is not None}
    if isinstance(value, (list, tuple, range)):
        return [plain(one, check, of) for one, of in zip(value, _kinds_of(value, kind))]
    if hasattr(value, "total_seconds"):
        raise ValueError(f"{type(value).__name__} is no number: divide it by the unit of time of the dataset")
    if value is not None and not isinstance(value, (str, int, float)):
        raise ValueError(f"{type(value).__name__} is neither a number nor a text nor a list of these")
    return value


def _kinds_of(values: Sequence[Any], kind: Kind) -> List[Kind]:
    """What the numbers of items are: of a list of ranges for a list of quantities, each those of its own."""
    if isinstance(kind, Of) and isinstance(kind.what, (list, tuple)) and len(kind.what) == len(values):
        if all(np.ndim(one) == 1 for one in values):
            return [Of(one) for one in kind.what]
    return [kind] * len(values)


def _is_finite(value: Any) -> bool:
    if isinstance(value, (list, dict)):
        return all(map(_is_finite, value.values() if isinstance(value, dict) else value))
    return not isinstance(value, float) or math.isfinite(value)


def _finite(points: NDArray[Any]) -> NDArray[Any]:
    if not np.isfinite(points).all():
        raise ValueError("points must be finite: JSON has no NaN and no infinity")
    return points


def _given(members: Mapping[str, Any], beside: Mapping[str, Any], check: CheckUnit) -> Dict[str, Any]:
    # Numbers along x, y and z.
    along = {name: members[name] for name in ("samples", "lag") if has_names(members.get(name))}
    in_order = {name: points_of(value, lambda _, stated, name=name: check(name, stated)) for name, value in along.items()}
    members = {**members, **in_order}
    given = {name: plain(value, check, kind_of(name, beside)) for name, value in members.items() if value is not None}
    for name, value in given.items():
        if not _is_finite(value):
            raise ValueError(f"{name} must be finite: JSON has no NaN and no infinity")
    for name in ("i", "j", "k"):
        # Their ranges have ends that are not in them, as those of Python.
        nodes = members.get(name)
        if isinstance(nodes, range):
            given[name] = plain(slice(nodes.start, nodes.stop, nodes.step))
    return given


class Grid:
    """Arrays on a grid: ``arrays`` by name, their ``dims`` in order, ``coords`` and ``units`` by name, and the ``question``.

    ``grid["Q"]`` is the array of a quantity. Vectors and tensors have further dimensions at the end.
    """

    def __init__(self, found: "_Arrays") -> None:
        self.dims: Tuple[str, ...] = tuple(name for name, array in found.items() if found.dims[name] == (name,))
        self.coords: Dict[str, Any] = {}
        self.arrays: Dict[str, NDArray[Any]] = {}
        self.units: Dict[str, str] = found.units
        self.question: Dict[str, Any] = found.question
        for name, array in found.items():
            dims = found.dims[name]
            if dims == (name,) or (dims == () and name in ("x", "y", "z", "t")):
                self.coords[name] = array if dims else array.item()
                continue
            last = array.shape[-1] if len(dims) > len(self.dims) else 1
            shape = {1: (), 3: (3,), 9: (3, 3), 27: (3, 3, 3)}.get(last, (last,))
            self.arrays[name] = array.reshape((*array.shape[: len(self.dims)], *shape))

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.arrays[name]

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        """The array of the only quantity."""
        if len(self.arrays) != 1:
            raise TypeError(f"name one of {', '.join(self.arrays)}")
        return np.asarray(next(iter(self.arrays.values())), dtype=dtype)

    def __repr__(self) -> str:
        return f"<grid of {', '.join(self.arrays)} along {', '.join(self.dims)}>"

    def to_xarray(self) -> Any:
        """The grid as an ``xarray.Dataset``; needs xarray."""
        import xarray

        variables = {}
        for name, array in self.arrays.items():
            extra = ["component", "direction", "direction_2"][: array.ndim - len(self.dims)]
            variables[name] = ((*self.dims, *extra), array, self._attributes(name))
        coords = {
            name: ((name,) if np.ndim(value) else (), value, self._attributes(name)) for name, value in self.coords.items()
        }
        return xarray.Dataset(variables, coords=coords, attrs={"question": json.dumps(self.question)})

    def _attributes(self, name: str) -> Dict[str, str]:
        return {"units": self.units[name]} if name in self.units else {}

    def plot(self, name: Optional[str] = None, **options: Any) -> Any:
        """Draw a plane, or a line; needs matplotlib. ``options`` go to ``pcolormesh`` or ``plot``."""
        from matplotlib import pyplot

        name = name or next(iter(self.arrays))
        array = self.arrays[name]
        if array.ndim != len(self.dims) or not 1 <= array.ndim <= 2:
            raise ValueError(f"a plot shows a scalar on a line or a plane, not {name} of shape {array.shape}")
        if array.ndim == 1:
            drawn = pyplot.plot(self.coords[self.dims[0]], array, **options)
            pyplot.ylabel(self._label(name))
        else:
            drawn = pyplot.pcolormesh(self.coords[self.dims[1]], self.coords[self.dims[0]], array, shading="nearest", **options)
            pyplot.colorbar(drawn, label=self._label(name))
            pyplot.ylabel(self._label(self.dims[0]))
            pyplot.gca().set_aspect("equal")
        pyplot.xlabel(self._label(self.dims[-1]))
        return drawn

    def _label(self, name: str) -> str:
        return f"{name} [{self.units[name]}]" if self.units.get(name, "1") != "1" else name


class Rows(Dict[str, NDArray[Any]]):
    """Columns of rows by name, in their order; ``question`` is the question, ``total`` what ``find`` counted."""

    question: Dict[str, Any]
    total: Optional[int] = None

    def to_pandas(self) -> Any:
        """The rows as a ``pandas.DataFrame``; needs pandas."""
        import pandas

        return pandas.DataFrame(dict(self))


class Table(Dict[str, Any]):
    """The answer of an analysis: the members of its JSON, lists of numbers as numpy arrays."""

    _asking: "Asking"
    #: The points that were asked, which the question of an answer states by their number if they are many.
    _points: Any = None

    def to_pandas(self) -> Any:
        """The table as a ``pandas.DataFrame``; needs pandas. It is asked for once more, as CSV.

        Raises:
            DatasetReplaced: if the dataset has been replaced since.
        """
        import pandas

        version = Version()
        version.check(self._asking.name, _versions(self.get("manifest"), self.get("manifests", {}).values()))
        question = {**self["question"], "format": "csv"}
        if "sha256" in (question.get("points") or ()):
            points = self._asking._given({"points": self._points})["points"]
            if isinstance(points, np.ndarray) and points.shape[-1] <= 4:
                dropped = ("dataset", "call", "points")
                query = _texts({name: one for name, one in question.items() if name not in dropped})
                answer = self._asking._post_points(question["call"], points, query, "text/csv", version)
            else:
                answer = self._asking._post({**question, "points": plain(points)}, "text/csv", version)
        else:
            answer = self._asking._post(question, "text/csv", version)
        # A quantity may be named NA or null; a number that is not finite is nothing.
        return pandas.read_csv(io.BytesIO(answer.body), keep_default_na=False, na_values=[""])


def _numbers(value: Any) -> Any:
    """Lists of numbers as arrays, null as NaN."""
    if isinstance(value, dict):
        return {key: one if key == "question" else _numbers(one) for key, one in value.items()}
    if not isinstance(value, list):
        return value
    if any(isinstance(one, (str, dict)) for one in value):
        return [_numbers(one) for one in value]
    try:
        array = np.asarray(value)
        return array if array.dtype.kind in "iub" else np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        return [_numbers(one) for one in value]


class _Arrays(Dict[str, NDArray[Any]]):
    """The arrays of an uncompressed Zarr 3 store in a ZIP archive, by their titles."""

    def __init__(self, body: bytes) -> None:
        super().__init__()
        try:
            archive = zipfile.ZipFile(io.BytesIO(body))
            root = json.loads(archive.read("zarr.json"))
        except (zipfile.BadZipFile, KeyError, ValueError) as error:
            raise FieldprobeError(f"the answer holds no arrays, but {body[:40]!r}: something in between has changed it") from error
        self.question: Dict[str, Any] = json.loads(root["attributes"]["fieldprobe_question"])
        total = root["attributes"].get("fieldprobe_total")
        self.total = None if total is None else int(total)
        self.dims: Dict[str, Tuple[str, ...]] = {}
        self.units: Dict[str, str] = {}
        names = [name[: -len("/zarr.json")] for name in archive.namelist() if name.endswith("/zarr.json")]
        for name in names:
            about = json.loads(archive.read(f"{name}/zarr.json"))
            title = about["attributes"]["long_name"]
            self.dims[title] = tuple(about["dimension_names"])
            self[title] = _whole(archive, name, about)
            if "units" in about["attributes"]:
                self.units[title] = about["attributes"]["units"]


def _whole(archive: zipfile.ZipFile, name: str, about: Mapping[str, Any]) -> NDArray[Any]:
    """An array, whose chunks are whole along all dimensions but the first."""
    shape = tuple(about["shape"])
    chunk = tuple(about["chunk_grid"]["configuration"]["chunk_shape"])
    dtype = np.dtype(about["data_type"]).newbyteorder("<")
    if not shape:
        return np.frombuffer(archive.read(f"{name}/c"), dtype)[:1].reshape(())
    rest = "/0" * (len(shape) - 1)
    count = -(-shape[0] // chunk[0]) if shape[0] else 0
    parts = [np.frombuffer(archive.read(f"{name}/c/{c}{rest}"), dtype).reshape(chunk) for c in range(count)]
    whole = np.concatenate(parts)[: shape[0]] if parts else np.empty(shape, dtype)
    return whole.astype(dtype.newbyteorder("="))


def arrays(body: bytes) -> Dict[str, NDArray[Any]]:
    """The arrays of a file of rows or of a grid, by their names."""
    return dict(_Arrays(body))


def _rows(found: _Arrays) -> Rows:
    rows = Rows(found)
    rows.question, rows.total = found.question, found.total
    return rows


def _has_times(found: _Arrays) -> bool:
    """Whether the column behind x, y, z is the time of each row, not a quantity named t."""
    return list(found)[3] == "t" and not re.match(r"\s*t\s*(=(?!=)|$)", found.question["what"][0])


def _quantities(found: _Arrays) -> Dict[str, NDArray[Any]]:
    """The quantities of rows: columns side by side, by the names in ``what``."""
    titles = list(found)[4 if _has_times(found) else 3 :]
    quantities: Dict[str, NDArray[Any]] = {}
    at = 0
    for text in found.question["what"]:
        given = re.match(r"\s*([A-Za-z_]\w*)\s*=(?!=)", text)
        name = given.group(1) if given else text
        end = at + 1
        if titles[at] != name:
            base = _PARTS.sub("", titles[at])
            while end < len(titles) and _PARTS.sub("", titles[end]) == base and titles[end] != titles[at] and end - at < 27:
                end += 1
        columns = [found[title] for title in titles[at:end]]
        count = len(columns)
        shape = {1: (), 3: (3,), 9: (3, 3), 27: (3, 3, 3)}[count]
        quantities[name] = np.stack(columns, axis=-1).reshape(-1, *shape) if count > 1 else columns[0]
        at = end
    return quantities


def _versions(own: Optional[str], others: Iterable[str]) -> Optional[str]:
    """The versions of the dataset of an answer and of the others that it names, as one text."""
    return own and " ".join([own, *sorted(others)])


class Version:
    """The version of the data that all requests of one answer must have found."""

    def __init__(self) -> None:
        self._manifest: Optional[str] = None

    def check(self, name: str, manifest: Optional[str]) -> None:
        """Keep the first manifest, and raise DatasetReplaced for another."""
        if self._manifest is None:
            self._manifest = manifest
        elif manifest != self._manifest:
            raise DatasetReplaced(f"{name} was replaced while it was asked: parts of one answer would be of two versions")


class Asking:
    """Methods of a dataset beside its calls."""

    _transport: Transport
    _points: int
    #: The manifest of the last answer; None before one.
    _found: Optional[str] = None
    #: What each call answers: rows and grids are sent as arrays, tables as JSON.
    _kinds: Mapping[str, str]

    @property
    def name(self) -> str:
        """The name of the dataset."""
        raise NotImplementedError

    def _check_unit(self, kind: Kind, stated: str) -> None:
        """Raises ValueError for a unit that numbers of a kind do not have in the dataset."""
        raise NotImplementedError

    def _given(self, members: Mapping[str, Any], call: str = "") -> Dict[str, Any]:
        """The members of a question as JSON holds them, but points, as rows, are an array."""
        points, found = members.get("points"), {**members, "points": None}
        # Bins of dispersion are of displacements unless it says what.
        beside = {**members, "what": "x"} if call == "dispersion" and members.get("what") is None else members
        given = _given(found, beside, self._check_unit)
        if is_rows(points):
            array = _finite(points_of(points, self._check_unit))
            return {**given, "points": array.reshape(-1, array.shape[-1])}
        if isinstance(points, Mapping):
            groups = [name for name in ("pairs", "tetrads") if is_rows(points.get(name)) and np.ndim(points[name]) > 0]
            points = {**points, **{name: _finite(points_of(points[name], self._check_unit)).tolist() for name in groups}}
        return given if points is None else {**given, "points": plain(points, self._check_unit)}

    def ask(self, call: str, what: Optional[What] = None, *, format: str = "json", **members: Any) -> bytes:
        """Any call in any of its forms, as the bytes of the file: ``ds.ask("grid", "Q", z=1, time=0.5, format="png")``."""
        question = {"dataset": self.name, "call": call, **self._given({"what": what, **members}, call), "format": format}
        return self._post(_listed(question), "*/*").body

    def submit(self, call: str, what: Optional[What] = None, **members: Any) -> "Any":
        """Start a job: any call, which the service runs in idle time; ``.result()`` waits and is what the call returns.

        ``ds.submit("dispersion", points={"pairs": 50000, "distance": 0.2}, time=slice(0, 1.6)).result()``
        """
        from .jobs import Job

        form = "json" if self._kinds.get(call) == "table" else "zarr"
        accept = JSON if self._kinds.get(call) == "table" else ZARR
        shape = None
        if call == "values" and is_rows(members.get("points")):
            array = points_of(members["points"], self._check_unit)
            members, shape = {**members, "points": array}, array.shape[:-1]
        given = self._given({"what": what, **members}, call)
        rows = given.get("points")
        path = self._path_of(call)
        if _is_many(given):
            points = given.pop("points")
            query = {**_texts(given), "format": form}
            answer = self._transport.submit(path, _npy(points), NPY, query, accept)
        else:
            question = {**_listed(given), "format": form}
            answer = self._transport.submit(path, json.dumps(question).encode(), JSON, None, accept)
        decoded = lambda body: self._decoded(call, what, body, shape, _is_list(given), rows)  # noqa: E731
        return Job(self._transport, answer.json(), decoded)

    def _path_of(self, call: str) -> str:
        return f"/api/datasets/{quote(self.name, safe='')}/{call}"

    def _post(self, question: Mapping[str, Any], accept: str, version: Optional[Version] = None) -> Answer:
        return self._checked(self._transport.post("/api/ask", json.dumps(question).encode(), JSON, None, accept), version)

    def _post_points(
        self, call: str, points: Any, query: Mapping[str, Any], accept: str, version: Optional[Version] = None
    ) -> Answer:
        return self._checked(self._transport.post(self._path_of(call), _npy(points), NPY, query, accept), version)

    def _checked(self, answer: Answer, version: Optional[Version]) -> Answer:
        """An answer, whose version of the data is noted, and compared with that of the others."""
        self._found = answer.headers.get("fieldprobe-manifest")
        if version is not None:
            others = answer.headers.get("fieldprobe-manifests") or ""
            version.check(self.name, _versions(self._found, others.split()))
        return answer

    def soap_vectors(self, operation: str, members: Mapping[str, Any], points: NDArray[np.float32]) -> NDArray[np.float32]:
        """The vectors that a SOAP operation answers at points of shape (n, 3), where no other call has the same quantity."""
        texts = "".join(f"<{name}>{escape(str(value))}</{name}>" for name, value in members.items())
        content, version, parts = "application/soap+xml; charset=utf-8", Version(), []
        for at in range(0, len(points), self._points):
            some = points[at : at + self._points].astype(str)
            rows = "".join(f"<Point3><x>{x}</x><y>{y}</y><z>{z}</z></Point3>" for x, y, z in some)
            body = f'<{operation} xmlns="{_NAMESPACE}">{texts}<points>{rows}</points></{operation}>'
            envelope = f'<e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope"><e:Body>{body}</e:Body></e:Envelope>'
            answer = self._transport.post("/service/turbulence.asmx", envelope.encode(), content, None, "*/*")
            found = ElementTree.fromstring(self._checked(answer, version).body).iter(f"{{{_NAMESPACE}}}Vector3")
            parts.append(np.array([[part.text for part in vector] for vector in found], np.float32).reshape(-1, 3))
        return np.concatenate(parts)

    def _call(
        self,
        call: str,
        what: Optional[What],
        members: Mapping[str, Any],
        progress: Progress = False,
        version: Optional[Version] = None,
    ) -> Any:
        points = members.get("points")
        if call == "values" and is_rows(points):
            return self._values(what, points, members, progress, version or Version())
        accept = JSON if self._kinds.get(call) == "table" else ZARR
        given = self._given({"what": what, **members}, call)
        rows = given.get("points")
        given["format"] = "json" if self._kinds.get(call) == "table" else "zarr"
        if _is_many(given):
            points = given.pop("points")
            answer = self._post_points(call, points, _texts(given), accept, version)
        else:
            answer = self._post({"dataset": self.name, "call": call, **_listed(given)}, accept, version)
        return self._decoded(call, what, answer.body, rows=rows)

    def _decoded(
        self,
        call: str,
        what: Optional[What],
        body: bytes,
        shape: Optional[Tuple[int, ...]] = None,
        is_list: bool = False,
        rows: Any = None,
    ) -> Any:
        """The answer in a body. `shape`: of the points that were asked, if it is an array's; `rows`: these points."""
        if self._kinds.get(call) == "table":
            table = Table(_numbers(json.loads(body)))
            table._asking, table._points = self, rows
            return table
        found = _Arrays(body)
        if call == "values":
            points = None if shape is None else int(np.prod(shape))
            return _shaped(found, (-1,) if shape is None else shape, what, (), points, is_list)
        if self._kinds.get(call) == "rows":
            return _rows(found)
        return Grid(found)

    def _values(
        self,
        what: Optional[What],
        points: Any,
        members: Mapping[str, Any],
        progress: Progress,
        version: Version,
    ) -> Any:
        """Values at points of shape (…, 3) or (…, 4), sent in parts, all of one version of the data."""
        array, width = points_of(points, self._check_unit), 4 if _is_each(members.get("time")) else 3
        if array.shape[-1] != width:
            raise ValueError(f"points must have the shape (…, {width}), not {array.shape}")
        flat = array.reshape(-1, width)
        given = self._given({"what": what, **members, "points": None})
        groups = _groups(given)
        # A request has a limit of points at all its times together.
        step = max(1, self._points // self._times_of(groups[0]))
        parts: List[List[_Arrays]] = [[] for _ in groups]
        for at in steps(len(flat), step, progress):
            for group, of_group in zip(groups, parts):
                query = {**_texts({**given, **group}), "format": "zarr"}
                of_group.append(_Arrays(self._post_points("values", flat[at : at + step], query, ZARR, version).body))
        first = len(flat[:step])
        found = [_shaped(some[0], array.shape[:-1], what, some, first, _is_list(given)) for some in parts]
        if len(found) == 1:
            return found[0]
        if isinstance(found[0], dict):
            return {name: np.concatenate([one[name] for one in found]) for name in found[0]}
        return np.concatenate(found)

    def _times_of(self, group: Mapping[str, Any]) -> int:
        """The number of times of a question of values."""
        raise NotImplementedError


def _shaped(
    found: _Arrays,
    shape: Tuple[int, ...],
    what: Optional[What],
    parts: Sequence[_Arrays] = (),
    points: Optional[int] = None,
    is_list: bool = False,
) -> Any:
    """One quantity as an array, several as a dict; times of a list come first. `points` are those of the first part."""
    times = 1 if is_list else None
    if _has_times(found) and found.question.get("time") != "each":
        # A list may repeat a time; a range does not.
        listed = found.question.get("time", found.question.get("frame"))
        counted = len(listed) if isinstance(listed, list) else np.unique(found["t"]).size
        times = counted if points is None else found["t"].size // points
    lead = () if times is None else (times,)
    joined = [_quantities(one) for one in parts or [found]]
    arrays = {}
    for name in joined[0]:
        several = [one[name] for one in joined]
        if times is not None:
            several = [one.reshape(times, -1, *one.shape[1:]) for one in several]
        whole = np.concatenate(several, axis=len(lead))
        arrays[name] = whole.reshape((*lead, *shape, *whole.shape[len(lead) + 1 :]))
    single = what is None or (isinstance(what, str) and len(arrays) == 1)
    return next(iter(arrays.values())) if single else arrays


def _is_each(time: Any) -> bool:
    return isinstance(time, str) and time.split(":")[0] == "each"


def _is_list(given: Mapping[str, Any]) -> bool:
    """Whether times are a list, of one perhaps, which an address does not tell from a time."""
    return any(isinstance(given.get(name), list) for name in ("time", "frame"))


def _groups(given: Mapping[str, Any]) -> List[Dict[str, Any]]:
    """The times of a question, a long list in parts, for an address cannot hold it."""
    for name in ("time", "frame"):
        times = given.get(name)
        if isinstance(times, list):
            if not times:
                raise ValueError(f"{name} must hold at least one item")
            return [{name: times[at : at + _TIMES]} for at in range(0, len(times), _TIMES)]
        if times is not None:
            return [{name: times}]
    return [{}]


def _is_many(given: Mapping[str, Any]) -> bool:
    """Whether points are sent as a file, which holds no initial velocities; the times then go into an address."""
    points = given.get("points")
    is_long = isinstance(points, np.ndarray) and points.size > 3 * _FEW and points.shape[-1] <= 4
    return is_long and len(_groups(given)) == 1


def _listed(given: Mapping[str, Any]) -> Dict[str, Any]:
    """Members with points as lists."""
    return {name: plain(value) for name, value in given.items()}


def _texts(members: Mapping[str, Any]) -> Dict[str, str]:
    """Members as texts of an address: lists with commas, objects as JSON."""
    return {name: _text(value) for name, value in members.items()}


def _text(value: Any) -> str:
    if isinstance(value, list) and not any(isinstance(one, (list, dict)) for one in value):
        return ",".join(_text(one) for one in value)
    return value if isinstance(value, str) else json.dumps(value)


def _npy(points: NDArray[Any]) -> bytes:
    """Rows of points as a file of NumPy; times need float64."""
    file = io.BytesIO()
    np.save(file, np.ascontiguousarray(points, dtype="<f8" if points.shape[1] == 4 else "<f4"))
    return file.getvalue()


def steps(total: int, step: int, progress: Progress) -> Iterator[int]:
    """The first points of the parts of a call; reports the progress after each."""
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

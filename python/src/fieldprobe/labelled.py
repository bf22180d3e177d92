"""Numbers of numpy, pandas, xarray and netCDF4 as plain arrays: by their labels, in the units of the dataset, or refused.

What ``numpy.asarray`` drops in silence is kept or refused here: masks, names, units, and the type of dates.
"""

from __future__ import annotations

import re
from collections.abc import MutableSequence
from itertools import chain
from typing import Any, Callable, Iterable, List, Mapping, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import NDArray

from .units import Kind

#: Refuses a unit that numbers of a kind do not have.
CheckUnit = Callable[[Kind, str], None]

#: The numbers of a point in their order: place, time, initial velocity.
_NAMES = ("x", "y", "z", "t", "vx", "vy", "vz")
#: A name of one of them, and its unit, as in headers of CSV files.
_NAME = re.compile(
    r"(?:(?:pos(?:ition)?|p|points?|coord(?:inate)?s?)?[_ :-]?([xyz])|points?:([012])|(t)(?:ime)?|(v[xyz]))\s*(?:[\[(](.*?)[\])])?",
    re.IGNORECASE,
)
#: A unit behind any other name.
_BRACKET = re.compile(r".*\[([^\]]*)\]\s*")
_PLAIN = (list, tuple, int, float, bool, str, type(None), np.ndarray)


def is_rows(points: Any) -> bool:
    """Whether points are numbers, and neither a text nor an object such as ``{"random": 1000}``."""
    return points is not None and not isinstance(points, str) and (not isinstance(points, Mapping) or _is_named(points))


def array_of(value: Any, check: Optional[CheckUnit] = None, kind: Kind = "") -> NDArray[Any]:
    """Numbers by their places: a coordinate, times. Raises ValueError for masked numbers, dates and other units."""
    value = _listed(value)
    if isinstance(value, (list, tuple)) and _holds_labels(value):
        return np.asarray([array_of(one, check, kind) for one in value])
    _check_units(value, check, kind)
    # xarray shows the masks of what it holds by `data` alone.
    held = value.data if hasattr(value, "dims") and hasattr(getattr(value, "data", None), "__array__") else value
    array = np.asanyarray(held)
    if np.ma.is_masked(array):
        raise ValueError("masked numbers have no value: leave them out, as in points[~mask]")
    if array.dtype.kind in "mM":
        raise ValueError(f"{array.dtype} is no number: divide it by the unit of time of the dataset")
    return np.asarray(array)


def points_of(value: Any, check: Optional[CheckUnit] = None) -> NDArray[Any]:
    """Points of shape (…, 3) or more: by the names x, y, z where there are any, and else by place.

    Raises ValueError for other names, masked numbers and other units, TypeError for what is no number.
    """
    array = _ordered(value, check)
    if array.ndim == 0:
        raise ValueError("points must have the shape (…, 3), not ()")
    if array.size == 0:
        raise ValueError("points must hold at least one point")
    if array.dtype.kind not in "fiu":
        raise TypeError(f"points must be numbers, not {array.dtype}")
    return array


def has_names(value: Any) -> bool:
    """Whether numbers have names: of a namedtuple, a record, the index of a Series, or coordinates of a DataArray."""
    is_record = bool(getattr(getattr(value, "dtype", None), "names", None))
    is_series = hasattr(value, "iloc") and not hasattr(value, "columns") and not _is_numbered(value.index)
    labels = value.coords.values() if hasattr(value, "dims") and hasattr(value, "coords") else ()
    return is_record or hasattr(value, "_fields") or is_series or any(one.dtype.kind in "OSU" for one in labels)


def _is_numbered(index: Any) -> bool:
    return all(isinstance(one, (int, np.integer)) for one in index)


def check_aligned(values: Sequence[Any]) -> None:
    """Raises ValueError if columns of pandas or arrays of xarray do not have the same rows."""
    rows = [one.index for one in values if hasattr(one, "iloc")]
    if any(not one.equals(rows[0]) for one in rows):
        raise ValueError("the columns have different rows: align them by their index")


def broadcast(values: Sequence[Any]) -> Tuple[Any, ...]:
    """Arrays of xarray and numbers as arrays of the same dimensions, which are matched by name."""
    import xarray

    if any(np.ndim(one) > 0 and not hasattr(one, "dims") for one in values):
        raise TypeError("x, y, z and t must all be DataArrays, or numbers, if one is: arrays without dims match by nothing")
    return tuple(xarray.broadcast(*(xarray.DataArray(one) for one in values)))


def _listed(value: Any) -> Any:
    """Deques and lists of users as lists, whose items are looked at."""
    return list(value) if isinstance(value, MutableSequence) and not isinstance(value, list) else value


def _ordered(value: Any, check: Optional[CheckUnit]) -> NDArray[Any]:
    value = _listed(value)
    if isinstance(value, Mapping):
        return _joined(list(value), [value[name] for name in value], check)
    if isinstance(value, (list, tuple)):
        if hasattr(value, "_fields"):
            return _joined(value._fields, value, check)
        names = [getattr(one, "name", None) for one in value]
        if _is_named(names) and not any(hasattr(one, "iloc") and _is_named(one.index) for one in value):
            return _joined(names, value, check)
        return np.asarray([_ordered(one, check) for one in value]) if _holds_labels(value) else array_of(value)
    if hasattr(value, "levels") and hasattr(value, "to_frame"):
        value = value.to_frame(index=False)
    fields = getattr(getattr(value, "dtype", None), "names", None)
    if fields:
        return _joined(fields, [value[name] for name in fields], check)
    _check_units(value, check, "length")
    if isinstance(getattr(value, "dims", None), tuple):
        return _of_xarray(value, check)
    if hasattr(value, "iloc"):
        return _of_pandas(value, check)
    columns = getattr(value, "column_names", getattr(value, "columns", None))
    if columns is not None:
        return _joined(list(columns), [value[name] for name in columns], check)
    return array_of(value)


def _of_pandas(value: Any, check: Optional[CheckUnit]) -> NDArray[Any]:
    """A table by the names of its columns, or of its rows, and a Series by those of its index."""
    if not hasattr(value, "columns"):
        return _split(array_of(value), value.index, check) if _is_named(value.index) else array_of(value)
    if not _is_named(value.columns) and _is_named(value.index):
        value = value.T
    return _split(array_of(value), value.columns, check)


def _of_xarray(value: Any, check: Optional[CheckUnit]) -> NDArray[Any]:
    """An array by the labels of one of its dimensions, and without any by place."""
    labels = [(one.dims[0], one.values.tolist()) for one in getattr(value, "coords", {}).values() if one.ndim == 1]
    named = {dim: names for dim, names in labels if _is_named(names)}
    if len(named) > 1:
        raise ValueError(f"x, y and z name more than one dimension: {', '.join(map(str, named))}")
    for dim, names in named.items() or [one for one in labels if one[0] == value.dims[-1]]:
        return _split(array_of(value.transpose(..., dim)), names, check)
    return array_of(value)


def _split(array: NDArray[Any], names: Iterable[Any], check: Optional[CheckUnit]) -> NDArray[Any]:
    """An array whose last dimension has names; as it is, if none of them is a text."""
    texts = _texts_of(names)
    if not any(isinstance(text, str) for text in texts):
        return array
    return _joined(texts, [array[..., i] for i in range(len(texts))], check)


def _joined(names: Iterable[Any], columns: Sequence[Any], check: Optional[CheckUnit]) -> NDArray[Any]:
    """Named columns side by side, in the order of a point."""
    known = [_name_of(text) for text in _texts_of(names)]
    found = [name for name, _ in known]
    order = [name for name in _NAMES if name in found]
    if len(order) < len(found) or order[:3] != ["x", "y", "z"]:
        raise ValueError(f"points are named x, y, z (and t, or vx, vy, vz), not {', '.join(map(str, names))}")
    check_aligned(columns)
    chosen = []
    for name in order:
        at = found.index(name)
        kind = "length" if name in "xyz" else "time" if name == "t" else "velocity"
        if known[at][1] and check is not None:
            check(kind, known[at][1])
        _check_units(columns[at], check, kind)
        chosen.append(columns[at])
    if any(isinstance(getattr(one, "dims", None), tuple) for one in chosen):
        chosen = list(broadcast(chosen))
    return np.stack(np.broadcast_arrays(*map(array_of, chosen)), axis=-1)


def _name_of(text: Any) -> Tuple[Optional[str], str]:
    """The number of a point that a text names, and its unit: `x [mm]` is x in mm."""
    found = _NAME.fullmatch(text.strip()) if isinstance(text, str) else None
    if found is None:
        return None, ""
    letter, digit, time, velocity, unit = found.groups()
    return "xyz"[int(digit)] if digit else (letter or time or velocity).lower(), (unit or "").strip()


def _texts_of(labels: Iterable[Any]) -> List[Any]:
    """Names of rows or columns: of several levels or a path in a file the last one, bytes as text."""
    last = [one[-1] if isinstance(one, tuple) else one for one in labels]
    texts = [one.decode() if isinstance(one, bytes) else one for one in last]
    return [one.rpartition("/")[2] if isinstance(one, str) and one.startswith("/") else one for one in texts]


def _is_named(names: Iterable[Any]) -> bool:
    if getattr(getattr(names, "dtype", None), "kind", "O") in "iufmM":
        return False
    return any((_name_of(text)[0] or "t") in "xyz" for text in _texts_of(names) if isinstance(text, str))


def _holds_labels(value: Sequence[Any]) -> bool:
    """Whether anything in lists, however deep, is more than a number or an array of numpy."""
    level: List[Any] = list(value)
    while level:
        kinds = set(map(type, level))
        if any(kind not in _PLAIN and not issubclass(kind, np.number) for kind in kinds):
            return True
        level = list(chain.from_iterable(one for one in level if type(one) in (list, tuple)))
    return False


def _check_units(value: Any, check: Optional[CheckUnit], kind: Kind) -> None:
    if check is not None and kind:
        for unit in _units_of(value):
            check(kind, unit)


def _units_of(value: Any) -> List[str]:
    """The units that a value states: by attributes, as a quantity, or behind its name."""
    if type(value) in _PLAIN or isinstance(value, np.generic):
        return []
    stated: List[Any] = []
    attributes = getattr(value, "attrs", None)
    if hasattr(attributes, "get"):
        stated += [attributes.get("units"), attributes.get("unit")]
    for holder in (value, getattr(value, "data", None)):
        if type(holder) not in _PLAIN and not hasattr(holder, "iloc"):
            stated += [getattr(holder, "units", None), getattr(holder, "unit", None)]
    name = getattr(value, "name", None)
    if isinstance(name, str):
        behind = _BRACKET.fullmatch(name)
        stated += [_name_of(name)[1] or (behind.group(1) if behind else None)]
    several = chain.from_iterable(one.values() if isinstance(one, Mapping) else [one] for one in stated)
    texts = [one.item() if isinstance(one, (np.ndarray, np.generic)) and one.size == 1 else one for one in several]
    texts = [one.decode() if isinstance(one, bytes) else one for one in texts]
    return [str(one).strip() for one in texts if one is not None and not hasattr(one, "__array__")]

"""The units of members: which measure each has, the unit of a measure or a quantity, and whether a stated unit is that one."""

from __future__ import annotations

import re
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Union


class Of(NamedTuple):
    """What numbers are that have the unit of quantities: `what` as in a question."""

    what: Any


#: What numbers are: a measure, those of quantities, or the name of a member whose numbers have no unit.
Kind = Union[str, Of]

#: Measures, and what their numbers are called.
_MEASURES = {"length": "lengths", "time": "times", "velocity": "velocities", "diffusivity": "diffusivities"}
#: Members with a unit, also those in the objects of `points`, `separations`, `reduce` and `events`. All others refuse units.
_MEMBERS = {
    **dict.fromkeys(("x", "y", "z", "tolerance", "distance", "lengths", "apart"), "length"),
    **dict.fromkeys(("t", "time", "mean_time", "step", "drag"), "time"),
    "u_tau": "velocity",
    "diffusivity": "diffusivity",
    "isovalue": "quantity",
    "range": "quantity",
}
#: What names the quantity of a range, the first one that is there.
_NAMED_BY = ("on", "histogram", "joint", "what")

_BASES = {"metre": "m", "meter": "m", "second": "s", "sec": "s", "minute": "min", "min": "min", "hour": "h"}
_PREFIXES = {"nano": "n", "micro": "u", "milli": "m", "centi": "c", "deci": "d", "kilo": "k", "": ""}
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")


def kind_of(member: str, beside: Mapping[str, Any]) -> Kind:
    """What the numbers of a member are, from those beside it."""
    kind = _MEMBERS.get(member, member)
    return Of(next((beside[one] for one in _NAMED_BY if beside.get(one) is not None), None)) if kind == "quantity" else kind


def check_unit(dataset: str, description: Mapping[str, Any], kind: Kind, stated: str) -> None:
    """Raises ValueError for a stated unit that is not that of the dataset, or that nothing is known of."""
    if isinstance(kind, str) and kind not in _MEASURES:
        if contradicts(stated, None):
            raise ValueError(f"{stated} is stated, and {kind} has no unit")
        return
    own_units = description["units"]
    if isinstance(kind, str):
        _refuse(stated, _unit_of(kind, own_units), f'{_MEASURES[kind]} of "{dataset}"')
        return
    known = _quantities(description)
    first = description["what"][0]["name"]
    for text in _names_in(first if kind.what is None else kind.what):
        name = re.sub(r"^\w+\s*=(?!=)\s*", "", text.strip()).strip()
        base = re.sub(r"(\.[xyz]|\s*\[\s*\d\s*\])+$", "", name)
        if base in known:
            _refuse(stated, known[base], f'numbers of {name} of "{dataset}"')
        elif stated and own_units:
            raise ValueError(f"{stated} is stated, and the unit of {name} is not known to the package; give a number")
        else:
            _refuse(stated, None, f'numbers of {name} of "{dataset}"')


def contradicts(stated: str, own: Optional[str]) -> bool:
    """Whether a stated unit is not the own one, which may be None; an empty text states none."""
    return stated != "" and _factors(stated) != _factors(own or "1")


def _refuse(stated: str, own: Optional[str], whose: str) -> None:
    if contradicts(stated, own):
        raise ValueError(f"{stated} is stated, and {whose} are in {own or 'no stated unit'}")


def _unit_of(measure: str, units: Mapping[str, str]) -> Optional[str]:
    """The unit of a measure; of a velocity or a diffusivity that is not stated, from those of length and time."""
    if measure in units or "length" not in units or "time" not in units:
        return units.get(measure)
    length, time = (one if one.isalpha() else f"({one})" for one in (units["length"], units["time"]))
    return {"velocity": f"{length}/{time}", "diffusivity": f"{length}^2/{time}"}.get(measure)


def _quantities(description: Mapping[str, Any]) -> Dict[str, Optional[str]]:
    """The units of quantities by their names and formulas, `A` and `grad(u)`; None only of stored fields without one."""
    stored = {one["name"] for one in description["fields"]}
    found: Dict[str, Optional[str]] = {}
    for one in description["what"]:
        names = {one["name"], one.get("formula", one["name"])}
        speed = _unit_of("velocity", description["units"]) if names & {"velocity", "speed"} else None
        unit = one.get("unit", speed)
        if unit is not None or names & stored:
            found.update(dict.fromkeys(names, unit))
    return found


def _names_in(what: Any) -> List[str]:
    """The texts of `what`, which are a list or separated by commas that are in no brackets."""
    if not isinstance(what, str):
        return [one for some in what for one in _names_in(some)]
    texts, depth = [""], 0
    for letter in what:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            texts.append("")
        else:
            texts[-1] += letter
    return texts


def _factors(unit: str) -> Dict[str, int]:
    """The symbols of a unit with their powers: ``m s-1``, ``m*s**-1``, ``1/(s/m)`` and ``meters/second`` are the same."""
    text = re.sub(r"\s*(?:\*\*|\^)\s*", "^", unit.translate(_RAISED))
    powers: Dict[str, int] = {}
    sign, outside = 1, []
    for part in re.findall(r"[/(]|\)(?:\^?[+-]?\d+)?|[^\s/*.()\u00b7]+", text):
        if part == "/":
            sign = -1
            continue
        if part == "(":
            outside.append((powers, sign))
            powers, sign = {}, 1
            continue
        if part[0] == ")":
            inside, of = powers, int(part[1:].lstrip("^") or 1)
            powers, sign = outside.pop() if outside else ({}, 1)
        else:
            found = re.fullmatch(r"(.*?[^\d^+-])\^?([+-]?\d+)?", part)
            symbol, power = found.groups() if found else (part, None)
            inside, of = {_symbol(symbol): 1}, int(power or 1)
        for name, own in inside.items():
            powers[name] = powers.get(name, 0) + sign * of * own
        sign = 1
    if outside:
        return {unit: 1}
    return {name: power for name, power in powers.items() if power != 0 and name != "1"}


def _symbol(unit: str) -> str:
    """A unit by its symbol: ``metres`` is m, and 1 that of a number without dimension."""
    text = unit.strip().replace("\u00b5", "u").replace("\u03bc", "u")
    word = text.lower()
    if word in ("-", "dimensionless", "none"):
        return "1"
    word = word[:-1] if len(word) > 2 and word.endswith("s") else word
    for prefix, before in _PREFIXES.items():
        if word.startswith(prefix) and word[len(prefix) :] in _BASES:
            return before + _BASES[word[len(prefix) :]]
    return text

"""Numbers of properties in names and cells, as people write them: farm, holding, lease and section.

    properties_in("Byggesak Vika gnr 60-116")    ->   [PropertyNumber("60", "116")], "Byggesak Vika 60/116"
    properties_in("Sak om 60-116")               ->   [], "Sak om 60-116"
    read_properties("60/116, 60/117/0/2")        ->   [("60", "116", "", ""), ("60", "117", "", "2")]

In a name a pair of numbers may be anything, so that a word must stand before it; in a cell it stands alone.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_BETWEEN = r"\s*[-/]\s*"
_NUMBERS = (
    rf"(?P<gnr>\d{{1,5}})(?:{_BETWEEN}|[\s,-]*(?:og\s+)?b(?:ruks)?nr[.:]?\s*)(?P<bnr>\d{{1,4}})"
    r"(?:(?:\s*/\s*|[\s,]*f(?:este)?nr[.:]?\s*)(?P<fnr>\d{1,4}))?"
    r"(?:(?:\s*/\s*|[\s,]*s(?:eksjons)?nr[.:]?\s*)(?P<snr>\d{1,4}))?(?![\w/])"
)
_WORD = r"(?<!\w)(?:g/?bnr|g(?:å|aa?)rds(?:nr|nummer)|gnr)[.:]?(?:\s*/\s*b(?:ruks)?nr[.:]?)?\s*"
_IN_NAME = re.compile(_WORD + _NUMBERS, re.IGNORECASE)
_IN_CELL = re.compile(rf"(?:{_WORD})?{_NUMBERS}", re.IGNORECASE)
_BETWEEN_CELLS = re.compile(r"\s*(?:;|,(?!\s*[bfs]\w*nr)|\bog\b(?!\s*b))\s*", re.IGNORECASE)


class PropertyNumber(NamedTuple):
    """The number of one property within its municipality; lease and section are empty where there is none."""

    gnr: str
    bnr: str
    fnr: str = ""
    snr: str = ""

    @property
    def text(self) -> str:
        """As it is written in titles: `60/116`, `60/116/0/2`."""
        numbers = [self.gnr, self.bnr, self.fnr or "0", self.snr or "0"]
        while numbers[-1] == "0":
            numbers.pop()
        return "/".join(numbers)

    def fields(self) -> dict[str, object]:
        """What recipes see of it; `fnr` and `snr` only where it has them."""
        return {name: value for name, value in self._asdict().items() if value}


def properties_in(name: str) -> tuple[tuple[PropertyNumber, ...], str]:
    """The properties that a name tells, and the name with each of them as `60/116`.

    >>> properties_in("Deling gnr. 60, bnr. 116 fnr 3 i Vika")[1]
    'Deling 60/116/3 i Vika'
    """
    if "nr" not in name.lower() and "nummer" not in name.lower():
        return (), name
    numbers = [_number_of(match) for match in _IN_NAME.finditer(name)]
    return tuple(dict.fromkeys(numbers)), _IN_NAME.sub(lambda match: _number_of(match).text, name)


def read_properties(cell: str) -> tuple[PropertyNumber, ...]:
    """The properties that a cell holds and nothing else; none where it holds anything else."""
    matches = [_IN_CELL.fullmatch(part) for part in _BETWEEN_CELLS.split(cell.strip())]
    numbers = [_number_of(match) for match in matches if match]
    return tuple(dict.fromkeys(numbers)) if len(numbers) == len(matches) else ()


def _number_of(match: re.Match[str]) -> PropertyNumber:
    """The number without leading zeros; a lease or section 0 is none."""
    gnr, bnr, *parts = (str(int(match[name] or 0)) for name in PropertyNumber._fields)
    return PropertyNumber(gnr, bnr, *("" if part == "0" else part for part in parts))

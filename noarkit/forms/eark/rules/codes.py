"""Rule ids by the kind of an entry, and rule levels by the version of the specification."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from noarkit.forms.findings import LEVELS, Rule, rules_of

PACKAGE = "noarkit.forms.eark.rules"
XSD = "EARK-XSD"


@dataclass(frozen=True, slots=True)
class Fixity:
    """The rules of a reference to a file: that it is there, how large it is, and its checksum."""

    presence: str
    size: str
    checksum: str
    algorithm: str


@dataclass(frozen=True, slots=True)
class Parts:
    """The rules of a section of metadata; those of its reference follow each other from `first` on."""

    id: str
    created: str
    status: str
    reference: str
    first: int

    def of(self, number: int) -> str:
        """The rule of the so-many-th attribute of the reference."""
        return f"CSIP{self.first + number}"


SECTIONS: Mapping[str, Parts] = MappingProxyType(
    {
        "dmdSec": Parts("CSIP18", "CSIP19", "CSIP20", "CSIP21", 22),
        "digiprovMD": Parts("CSIP33", "", "CSIP34", "CSIP35", 36),
        "rightsMD": Parts("CSIP46", "", "CSIP47", "CSIP48", 49),
    }
)
OTHER = Fixity("EARK-MISSING", "EARK-SIZE", "EARK-CHECKSUM", "EARK-ALGORITHM")
_PROVENANCE = Fixity("CSIP38", "CSIP41", "CSIP43", "CSIP44")
FIXITY: Mapping[str, Fixity] = MappingProxyType(
    {
        "file": Fixity("CSIP79", "CSIP69", "CSIP71", "CSIP72"),
        "dmdSec": Fixity("CSIP24", "CSIP27", "CSIP29", "CSIP30"),
        "digiprovMD": _PROVENANCE,
        "PREMIS": _PROVENANCE,
        "rightsMD": Fixity("CSIP51", "CSIP54", "CSIP56", "CSIP57"),
        "mptr": Fixity("CSIP110", "", "", ""),
        "object": Fixity("EARK-PREMIS-OBJECT", "EARK-PREMIS-SIZE", "EARK-PREMIS-CHECKSUM", "EARK-ALGORITHM"),
    }
)

FIXITY_CODES = frozenset(
    code for one in (OTHER, *FIXITY.values()) for code in (one.presence, one.size, one.checksum, one.algorithm) if code
)
LENIENT = frozenset(
    {f"CSIP{number}" for number in (*range(10, 17), 60, 80, 82, *range(88, 109), 113, 114, 116, 118, 119)}
)
"""Rules that tools read in different ways for a representation: there one rule of ours reports them, as warning."""

PACKAGE_ONLY = frozenset(
    {f"CSIP{number}" for number in (3, 5, 8, 17, 31, 32, 45, 61, 62, 63, 73, 74, 75, 91, 92, 93, 96, 97, 100)}
    | {"CSIP101", "CSIP104", "CSIP105", "CSIP60", "CSIP113", "CSIP114", "CSIP86"}
)
"""Rules that a representation need not keep where the package does."""


def fixity_of(origin: str) -> Fixity:
    """The rules of an entry of that origin."""
    return FIXITY.get(origin, OTHER)


def rules_for(version: str) -> Mapping[str, Rule]:
    """The rules by code, at the levels which that version of the specification gives them."""
    rules = dict(rules_of(PACKAGE))
    for code, entry in _entries().items():
        declared_level = entry["levels"].get(version) if "levels" in entry else None
        for level in LEVELS:
            if level == declared_level:
                rules[code] = replace(rules[code], level=level)
    return rules


@cache
def _entries() -> Mapping[str, dict[str, dict[str, str]]]:
    return tomllib.loads(files(PACKAGE).joinpath("rules.toml").read_text("utf-8"))

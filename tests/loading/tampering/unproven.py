"""What no depth can prove, as the manual prints it: each entry has the changes that it stands for, and the words of the
manual's chapter, in both languages, under that heading."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from noarkit.loading.spine import NATURAL_KEYS
from noarkit.loading.verification.expectation import SET_BY_ARCHIVE
from noarkit.model import metamodel
from tests.loading.tampering.changes import Tampering

_WAYS = frozenset({"field", "emptied", "call", "call emptied"})
ACCOUNTS = frozenset({"opprettetAvBrukerIdent", "avsluttetAvBrukerIdent", "avsluttetAv", "avsluttetDato"})
WITH_DEFAULTS = frozenset(
    {"publiseringsstatus", "eInnsynStatus", "skjermEInnsyn", "skjermKorrespondanseParterEInnsyn", "kryptertDokument"}
)


_FILLED_IN = frozenset({"dokumentmedium", "sjekksum", "sjekksumAlgoritme", "filstoerrelse"})


@dataclass(frozen=True, slots=True)
class Unproven:
    """A kind of change that no verification tells. `phrases` are words of the manual, in English and Norwegian."""

    name: str
    phrases: tuple[str, str]
    covers: Callable[[str, Tampering], bool]


def _is_set_by_archive(base: str, tampering: Tampering) -> bool:
    return tampering.kind in _WAYS and tampering.name in SET_BY_ARCHIVE | ACCOUNTS


def _is_default(base: str, tampering: Tampering) -> bool:
    return tampering.kind in ("emptied", "call emptied") and tampering.name in WITH_DEFAULTS


def _is_beside(base: str, tampering: Tampering) -> bool:
    return tampering.kind == "doubled" and tampering.type in NATURAL_KEYS


def _is_of_found(base: str, tampering: Tampering) -> bool:
    natural = NATURAL_KEYS.get(tampering.type)
    return base == "again" and natural is not None and tampering.name not in natural


def _is_of_others(base: str, tampering: Tampering) -> bool:
    """Further links of what was met, what the archive filled in of it, and what stands beside it."""
    if base != "again":
        return False
    if tampering.kind in ("emptied", "call emptied"):
        return tampering.name in _FILLED_IN
    is_beside = tampering.kind == "doubled" and tampering.type == "Mappe"
    return (
        is_beside
        or (tampering.kind, tampering.name) == ("call added", "in a series")
        or tampering.kind
        in (
            "link",
            "pair added",
        )
    )


UNPROVEN = (
    Unproven(
        "set by the archive",
        ("Fields that the archive fills in by itself", "Felt som arkivet fyller ut selv"),
        _is_set_by_archive,
    ),
    Unproven("defaults", ("A default value that was emptied", "En standardverdi som er tømt"), _is_default),
    Unproven(
        "beside",
        (
            "A fonds, series, records creator, classification or class that somebody added",
            "Et arkiv, en arkivdel, en arkivskaper",
        ),
        _is_beside,
    ),
    Unproven(
        "found",
        ("Objects that were there before the run", "Objekter som var der før kjøringen"),
        lambda base, tampering: _is_of_found(base, tampering) or _is_of_others(base, tampering),
    ),
    Unproven(
        "code names",
        ("The names of codes", "Navnene på koder"),
        lambda base, tampering: tampering.kind == "code",
    ),
    Unproven(
        "logs and marks",
        ("The archive's logs, and noarkit's own marks", "Loggene i arkivet og noarkits egne merker"),
        lambda base, tampering: tampering.kind in ("log", "anchor"),
    ),
)


def reason_unproven(base: str, tampering: Tampering) -> str:
    """The name of the entry that a change stands under; empty if there is none."""
    return next((entry.name for entry in UNPROVEN if entry.covers(base, tampering)), "")


def fields_named() -> frozenset[str]:
    """Fields that the manual must name one by one: what is set by the archive in the types that a run makes."""
    fields = {name for kind in metamodel().types.values() for name in kind.fields}
    return (SET_BY_ARCHIVE | ACCOUNTS | WITH_DEFAULTS) & fields - {"id", "version"}

"""Requests that no archive need answer: newer types and fields, and calls that are beyond the published interface.

Whatever an archive answers to one of them that is no good answer, it does not offer this, and whoever asks goes on
without. Only what never reached the archive, or came from something in between, is a fault as everywhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from typing import TypeVar

from noarkit.archive.port import Archive
from noarkit.archive.values import Query
from noarkit.errors import (
    ArchiveBroken,
    ArchiveFault,
    ArchiveMediaType,
    ArchiveNotFound,
    ArchiveRefused,
    ArchiveStrange,
    NotAllowed,
)
from noarkit.model import metamodel

T = TypeVar("T")
_REFUSALS = (ArchiveRefused, ArchiveNotFound, NotAllowed, ArchiveMediaType)
_OF_THE_SERVER = (500, 501)
"""Statuses by which a server itself says that it cannot answer; 502 to 504 come from a gateway, and pass."""


def answer_or(otherwise: T, ask: Callable[[], T], *, own_address: bool = False) -> T:
    """The answer to an optional request; `otherwise` where the archive does not offer it.

    `own_address` says that the request has an address of its own, for which a server may have nothing but its own page.
    """
    try:
        return ask()
    except ArchiveFault as fault:
        if not is_not_offered(fault, own_address=own_address):
            raise
        return otherwise


def is_not_offered(fault: ArchiveFault, *, own_address: bool = False) -> bool:
    """True where a fault says that the archive does not offer what was asked for."""
    if isinstance(fault, ArchiveBroken):
        return fault.data.get("status") in _OF_THE_SERVER
    if isinstance(fault, ArchiveStrange):
        # a page for people at an address of its own; after a change, only one that says it is a refusal
        status = fault.data.get("status")
        return own_address and (not fault.fate_unknown or (isinstance(status, int) and status >= 400))
    return isinstance(fault, _REFUSALS)


@cache
def is_newer(name: str, reference: str = "") -> bool:
    """True for a type, or an abstract one, that only newer archives have; or for a reference of such a kind."""
    model = metamodel()
    types = [model.types[kind] for kind in model.concrete(name)]
    if all(kind.newer for kind in types):
        return True
    references = [kind.references[reference] for kind in types if reference in kind.references]
    return bool(references) and all(reference.newer for reference in references)


def has_field(archive: Archive, kind: str, name: str) -> bool:
    """Whether an archive has a field: published ones it has, newer ones it is asked for. Raises transient faults."""
    if not metamodel().types[kind].fields[name].newer:
        return True
    query = Query(kind, f"{name} != @none", {"@none": None}, limit=1, optional=True)
    return answer_or(None, lambda: archive.query(query)) is not None


def has_any(archive: Archive, queries: Iterable[Query], reference: str) -> bool:
    """Whether any of these queries for what has a reference finds anything. An archive that refuses to look for a type
    or reference that it does not know has none of it."""

    def ask(query: Query) -> bool:
        if is_newer(query.type, reference):
            query = replace(query, optional=True)
            return answer_or(False, lambda: bool(archive.query(query).objects))
        try:
            return bool(archive.query(query).objects)
        except ArchiveRefused:
            return False

    return any(map(ask, queries))

"""The access log of a place: who asked to see what was masked, when, which item, and why; who searched for a person.
An item is named as addresses name it, by what tells of nobody.

It lies beside the catalogue, a line of JSON for each time, readable by its owner alone. A line is on the disk before
anything is shown; where it cannot be written, nothing is shown.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import orjson

from noarkit.catalogue.catalogue import Card, Catalogue, Entry
from noarkit.catalogue.masking import around_revealed, mask_entry
from noarkit.catalogue.port import Document
from noarkit.catalogue.veil import address_ref
from noarkit.errors import UsageFault
from noarkit.safe import atomic
from noarkit.safe.owners import own_name

_CATALOGUE_ENDING = ".noarkit-catalogue.db"
_ENDING = ".noarkit-access.jsonl"


def reveal_card(
    catalogue: Catalogue, ref: str, reason: str, now_s: Callable[[], float] = time.time, *, account: str = ""
) -> Card:
    """All of an item without masks, once the access log has it; what it lies in and is linked to stays masked.
    `account` is who logged in, where anybody did. Raises `UsageFault` where there is no such item, or no reason."""
    card = around_revealed(catalogue.card(ref))
    _log_access(catalogue, {"ref": address_ref(ref), "what": "card", "why": _checked(reason)}, account, now_s)
    return card


def reveal_document(
    catalogue: Catalogue, ref: str, reason: str, now_s: Callable[[], float] = time.time, *, account: str = ""
) -> tuple[Document, Entry]:
    """A document of a screened item, to be opened, and the item, masked, once the access log has it. Raises
    `UsageFault`."""
    document, entry = catalogue.document(ref)
    _log_access(catalogue, {"ref": address_ref(ref), "what": "document", "why": _checked(reason)}, account, now_s)
    return document, mask_entry(entry)


def log_person_search(
    path: Path, place: str, kinds: Sequence[str], reason: str = "", now_s: Callable[[], float] = time.time
) -> None:
    """Writes to the access log at `path` that a place was searched for a person, before anything of it is told: by what
    kind of criterion, never whom. Raises `JournalFault`, `DiskFull`."""
    why = " ".join(reason.split())
    _append(path, place, {"ref": "", "what": "person", "by": ",".join(kinds), "why": why}, "", now_s)


def access_log_path(catalogue: Catalogue) -> Path:
    """Where the access log of a catalogue lies."""
    return catalogue.path.with_name(catalogue.path.name.removesuffix(_CATALOGUE_ENDING) + _ENDING)


def _checked(reason: str) -> str:
    """A reason on one line. The fault where there is none says no ref, which may tell of what is screened."""
    reason = " ".join(reason.split())
    if not reason:
        raise UsageFault(what="reveal-unreasoned", where="", fix="--because", own="reason")
    return reason


def _log_access(catalogue: Catalogue, access: Mapping[str, str], account: str, now_s: Callable[[], float]) -> None:
    _append(access_log_path(catalogue), catalogue.place.identity.where, access, account, now_s)


def _append(path: Path, place: str, access: Mapping[str, str], account: str, now_s: Callable[[], float]) -> None:
    at = datetime.fromtimestamp(now_s(), UTC).isoformat(timespec="milliseconds")
    who = {"user": own_name(), **({"account": account} if account else {})}
    atomic.append_line(path, orjson.dumps({"at": at, **who, "place": place, **access}))

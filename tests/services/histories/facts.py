"""What an oracle knows of a service: the objects that are there at a moment, by the keys that the archive has."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

DELETED, SNAPSHOT = ":deleted", ":snapshot"


@dataclass(frozen=True, slots=True)
class Fact:
    """One object as it stands: where it belongs, its files by their own ids, and members that its record must show.

    `is_slow` for what nothing tells of: it is only found by a run that looks through everything. `document` is how the
    names of the documents end that show the members.
    """

    key: str
    folder: str
    files: tuple[tuple[str, str], ...] = ()
    members: str = ""
    modified: datetime | None = None
    is_slow: bool = field(default=False, compare=False)
    document: str = field(default=".json", compare=False)


@dataclass(frozen=True, slots=True)
class Listing:
    """All that is there at one moment: what may be read, and the keys of what is there and may not."""

    facts: Mapping[str, Fact]
    withheld: frozenset[str] = frozenset()


def item_key(key: str) -> str:
    """The key of an item without what tells of a snapshot or a deletion."""
    return key.removesuffix(DELETED).removesuffix(SNAPSHOT)


@dataclass(frozen=True, slots=True)
class Oracle:
    """What is known of one service: its full listing, and how its times are to be taken. `is_followed` is false for
    keys that it cannot tell of.

    `deletion_key` is what the report of a deletion names an archived key by, empty if none is reported; `is_whole` is
    true for keys whose deletion is reported although nothing of their folder is left. `is_homeless` is true for keys
    that do not tell where the object belongs: its deletion is only known where all may be read. Without
    `is_slow_in_new_folders` all of a folder that no earlier run saw is looked through with it.
    """

    listing: Callable[[object], Listing]
    look_back_s: float
    sweep_s: float
    tenant: Callable[[object], str]
    records: int = 6
    options: Mapping[str, str] = field(default_factory=dict)
    archivable: bool = False
    is_followed: Callable[[str], bool] = lambda key: True
    deletion_key: Callable[[str], str] = item_key
    is_whole: Callable[[str], bool] = lambda key: key.endswith(SNAPSHOT)
    is_homeless: Callable[[str], bool] = lambda key: False
    is_slow_in_new_folders: bool = True


def digest(data: bytes) -> str:
    """The checksum that the archive has of a file."""
    return hashlib.sha256(data).hexdigest()


def as_text(members: Mapping[str, object] | list[dict[str, object]]) -> str:
    """Members as a text that can be compared."""
    return json.dumps(members, sort_keys=True, ensure_ascii=False, default=str)


def shows(members: str, data: bytes) -> bool:
    """True if a JSON document has these members with these values; absent is as good as null."""
    try:
        document = json.loads(data)
    except ValueError:
        return False
    return _holds(_bare(document), _bare(json.loads(members)))


def _holds(document: object, expected: object) -> bool:
    """True if each expected member is there with its value."""
    if isinstance(expected, dict) and isinstance(document, dict):
        return all(_holds(document.get(name), value) for name, value in expected.items())
    if isinstance(expected, list) and isinstance(document, list):
        return len(expected) == len(document) and all(map(_holds, document, expected))
    return document == expected


def _bare(value: object) -> object:
    """Values without what is empty: a service leaves empty members out or gives null."""
    if isinstance(value, dict):
        return {name: _bare(inner) for name, inner in value.items() if inner not in (None, "", [], {})} or None
    return None if value in ("", []) else value

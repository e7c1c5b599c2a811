"""What in a run folder is noarkit's own, by its names, and what of a run lies beside it; anything else is not touched.

A name that is not here was written by somebody else, or by a later version. It is left, and the receipt says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from noarkit.results import JsonObject, json_field, json_value
from noarkit.safe.atomic import is_temporary
from noarkit.safe.removal import FileFacts, OpenFolder

PLAN, LOCK = "plan.json", "run.lock"
_STORES = r"graph|run(?:-\d+-of-\d+|-spine)?|bundle|delivery|fetched|written-back"
_DATABASES = rf"(?:{_STORES})\.db(?:-wal|-shm|-journal|\.merging)?"
_LISTS = r"(?:delivered-)?(?:ids|set-aside)|skipped|faults|open|not-in-archive|changed-there|other-values|left-out"
_OURS = re.compile(
    rf"plan\.json|plan\.html|plan-report\.json|report\.(?:html|json)|estimate\.json|approvals\.jsonl|documents\.jsonl"
    rf"|(?:kept-)?changelog\.xml|premis\.xml|{_DATABASES}|(?:{_LISTS})\.csv"
    r"|run(?:-\d+-of-\d+|-spine)?\.(?:log|lock)|(?:verify|delivered)-\d{8}-\d{6}\.(?:html|json)"
)
_BESIDE = (
    ".noarkit-catalogue.db",
    *(f".noarkit-text.db{ending}" for ending in ("", "-wal", "-shm", "-journal", ".lock")),
)
_ACCESS_LOG = ".noarkit-access.jsonl"
NOT_OURS, ACCESS_LOG = "not-ours", "access-log"


@dataclass(frozen=True, slots=True)
class KeptName(JsonObject):
    """Something that stays, and the reason."""

    name: str
    why: str


def _with_reasons(names: tuple[tuple[str, str], ...]) -> list[KeptName]:
    return [KeptName(name, why) for name, why in names]


@dataclass(frozen=True, slots=True)
class Inventory(JsonObject):
    """The files of a run: those in its folder, those beside it (by name in the folder above, or by path), and what is
    kept, by name with the reason."""

    files: tuple[FileFacts, ...]
    beside: tuple[FileFacts, ...]
    kept: tuple[tuple[str, str], ...] = field(metadata=json_field(form=_with_reasons))

    @property
    @json_value("bytes")
    def size_bytes(self) -> int:
        """The bytes of all files that go."""
        return sum(file.size_bytes for file in (*self.files, *self.beside))

    @property
    def leftovers(self) -> tuple[tuple[str, str], ...]:
        """What stays in the folder against the intent; the access log stays on purpose."""
        return tuple(entry for entry in self.kept if entry[1] != ACCESS_LOG)


def take_inventory(folder: OpenFolder, above: OpenFolder, elsewhere: Iterable[Path] = ()) -> Inventory:
    """Looks at every name in a run folder and beside it, and hashes what is noarkit's own. `elsewhere` are catalogues
    of the run in other folders."""
    files, kept_names = [], []
    for name in folder.names():
        kind = folder.kind(name)
        if kind == "file" and is_ours(name):
            files.append(folder.facts(name))
        elif kind:
            kept_names.append((name, kind if kind != "file" else NOT_OURS))
    beside = [above.facts(name) for name in names_beside(folder.path.name) if above.kind(name) == "file"]
    if above.kind(folder.path.name + _ACCESS_LOG) == "file":
        kept_names.append((folder.path.name + _ACCESS_LOG, ACCESS_LOG))
    for path in elsewhere:
        with OpenFolder(path.parent) as outside:
            if outside.kind(path.name) == "file":
                facts = outside.facts(path.name)
                beside.append(FileFacts(str(path), facts.size_bytes, facts.sha256, facts.names))
    return Inventory(tuple(files), tuple(beside), tuple(kept_names))


def is_ours(name: str) -> bool:
    """True for the name of a file that noarkit writes into a run folder."""
    return _OURS.fullmatch(name) is not None or is_temporary(name)


def names_beside(run: str) -> tuple[str, ...]:
    """The names of what noarkit keeps beside a run folder and removes with it."""
    return tuple(run + suffix for suffix in _BESIDE)

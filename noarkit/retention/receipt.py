"""The receipt of a removal: what was removed of which run, when, by whom, and by what the run was proven.

It is written before the first file goes (`begun`), so that whoever is killed finishes what was begun, and again when
the last has gone (`done`). It names files, sizes and checksums, and nothing of what stood in them.
"""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from noarkit.errors import JournalFault
from noarkit.results import HIDDEN, SPREAD, JsonObject, json_value
from noarkit.retention.inventory import Inventory
from noarkit.retention.proof import Proof
from noarkit.safe import atomic
from noarkit.safe.clocks import iso_seconds
from noarkit.safe.owners import own_name
from noarkit.safe.removal import FileFacts
from noarkit.safe.side_files import refuse_foreign
from noarkit.version import __version__

RECEIPT_VERSION = 1
_MIDDLE = ".noarkit-erased-"
_NAME = re.compile(re.escape(_MIDDLE) + r"\d{8}-\d{6}\.json\Z")


@dataclass(frozen=True, slots=True)
class Receipt(JsonObject):
    """One removal, begun or done."""

    path: Path = field(metadata=HIDDEN)
    run: str
    where: str
    state: Literal["begun", "done"]
    by: str
    machine: str
    begun: str
    ended: str | None
    because: str
    proof: Mapping[str, object]
    inventory: Inventory = field(metadata=SPREAD)

    @property
    def plan_sha256(self) -> str:
        """The plan of the run."""
        return str(self.proof["plan_sha256"])

    @property
    @json_value()
    def receipt(self) -> str:
        """What kind of receipt it is."""
        return "erased-traces"

    @property
    @json_value()
    def version(self) -> int:
        """Of the form of the file."""
        return RECEIPT_VERSION

    @property
    @json_value("noarkit")
    def program_version(self) -> str:
        """Of the program that writes it."""
        return __version__

    def write(self) -> None:
        """Puts the receipt on the disk, whole or not at all; what it is stands first."""
        facts = self.to_dict()
        facts = {name: facts[name] for name in (*_HEAD, *facts)}
        text = json.dumps(facts, ensure_ascii=False, indent=1) + "\n"
        atomic.write_text(self.path, text, mode=0o600)

    def finish(self, now_s: float) -> Receipt:
        """The same receipt, done."""
        return replace(self, state="done", ended=iso_seconds(now_s))


_HEAD = ("receipt", "version", "noarkit")
_PLAIN = ("run", "where", "state", "by", "machine", "begun", "ended", "because")


def begin_receipt(run: Path, proof: Proof, inventory: Inventory, because: str, now_s: float) -> Receipt:
    """A receipt that lies beside a run, written when its removal begins."""
    return Receipt(
        *(_free_path(run, now_s), run.name, str(run), "begun", own_name(), socket.gethostname()),
        *(iso_seconds(now_s), None, " ".join(because.split()), proof.to_dict(), inventory),
    )


def _free_path(run: Path, now_s: float) -> Path:
    """A name for the receipt: that of one that was begun for this folder, or a new one."""
    for receipt in receipts_of(run):
        if receipt.state == "begun":
            return receipt.path
    while True:
        path = run.parent / f"{run.name}{_MIDDLE}{datetime.fromtimestamp(now_s, UTC):%Y%m%d-%H%M%S}.json"
        if not path.exists():
            return path
        now_s += 1


def receipts_of(run: Path) -> list[Receipt]:
    """The receipts of a run folder of this name, the newest last. Raises `JournalFault` for one that is not ours alone,
    or cannot be read: what it says would be removed."""
    paths = [path for path in run.parent.glob(f"*{_MIDDLE}*.json") if is_receipt_of(path.name, run.name)]
    return sorted(map(read_receipt, paths), key=lambda receipt: receipt.begun)


def is_receipt_of(name: str, run: str) -> bool:
    """True for the name of a receipt of a run of this name."""
    return name.startswith(run + _MIDDLE) and _NAME.fullmatch(name[len(run) :]) is not None


def runs_with_receipts(folder: Path) -> list[Path]:
    """The run folders that receipts in a folder are of, whether they still stand or not."""
    names = {
        path.name[: match.start()] for path in folder.glob(f"*{_MIDDLE}*.json") if (match := _NAME.search(path.name))
    }
    return [folder / name for name in sorted(names)]


def read_receipt(path: Path) -> Receipt:
    """Reads a receipt. Raises `JournalFault`."""
    refuse_foreign(path)
    try:
        facts = json.loads(path.read_text("utf-8"))
        files, beside = (tuple(FileFacts(**entry) for entry in facts[name]) for name in ("files", "beside"))
        kept_names = tuple((str(entry["name"]), str(entry["why"])) for entry in facts["kept"])
        return Receipt(
            path,
            **{name: facts[name] for name in _PLAIN},
            proof=facts["proof"],
            inventory=Inventory(files, beside, kept_names),
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise JournalFault(where=str(path), why="unreadable") from error

"""What the making of a package notes beside it until somebody was told what the package is worth: killed before, the
same command comes to the same end.

A note is written when all of a package stands and before it gets its name, and is the last thing to go.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from noarkit.safe.atomic import write_text

Command = Literal["extract", "convert"]


@dataclass(frozen=True, slots=True)
class MakingNote:
    """The note of one command on its target. `key` is all that makes another call the same one; of it a hash is kept
    alone, for the address of a database may hold a password."""

    target: Path
    command: Command
    key: Sequence[object]

    def result(self) -> dict[str, object] | None:
        """What came of the same call, where its package has its name already; None for any other."""
        return self.read() if os.path.lexists(self.target) else None

    def read(self) -> dict[str, object] | None:
        """What the same call noted, whether or not its package has its name; None for any other."""
        try:
            content = json.loads(note_path(self.target, self.command).read_text("utf-8"))
            is_ours = content["key"] == self._key()
            result = content["result"]
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return result if is_ours and isinstance(result, dict) else None

    def write(self, result: Mapping[str, object]) -> None:
        """Notes what came of it. Raises `DiskFull`."""
        content = {"key": self._key(), "result": result}
        write_text(note_path(self.target, self.command), json.dumps(content, default=str), mode=0o600)

    def forget(self) -> None:
        """Removes the note: after that, the package is one that somebody made before."""
        forget_note(self.target, self.command)

    def _key(self) -> str:
        return hashlib.sha256(json.dumps(self.key, default=str).encode()).hexdigest()


def note_path(target: Path, command: Command) -> Path:
    """Where the note on the making of `target` stands."""
    return target.parent / f".{target.name}.noarkit-{command}.json"


def forget_note(target: Path, command: Command) -> None:
    """Removes the note on the making of `target`."""
    note_path(target, command).unlink(missing_ok=True)

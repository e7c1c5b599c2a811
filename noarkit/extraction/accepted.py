"""What a person accepted of the reasons that keep a package back, in `PKG.accepted.json` beside it.

It holds for that package alone, by the sha256 of its description, and for as many places as there were: one more keeps
the package back again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from noarkit.errors import UsageFault
from noarkit.safe.atomic import write_text
from noarkit.verdict import REASONS, Acceptance, Verdict

_FORMAT = 1


def accepted_path(package: Path) -> Path:
    """Where the acceptances of a package stand."""
    whole = package.resolve()
    return whole.parent / f"{whole.name}.accepted.json"


def accepted_beside(package: Path, description_sha256: str | None) -> tuple[Acceptance, ...]:
    """What was accepted of `package`; nothing where that was of another package, or where there is none."""
    try:
        content = json.loads(accepted_path(package).read_text("utf-8"))
        if description_sha256 and content["description_sha256"] == description_sha256:
            return tuple(Acceptance(**entry) for entry in content["accepted"])
    except (OSError, ValueError, KeyError, TypeError):
        pass  # there is none, or a file of somebody else by that name
    return ()


def accept_reasons(
    package: Path,
    description_sha256: str,
    verdict: Verdict,
    codes: Sequence[str],
    *,
    by: str,
    day: str,
    note: str,
) -> tuple[Acceptance, ...]:
    """Keeps that `by` accepts these reasons of a verdict, as they are. Raises `UsageFault` for one that cannot be."""
    if not by.strip():
        raise UsageFault(what="accept-wants-name", where="--accept", fix="--by", own="name")
    counts = {reason.code: reason.count for reason in verdict.reasons if reason.grade == "stops"}
    for code in codes:
        if code not in counts or not REASONS[code].can_be_accepted:
            raise UsageFault(what="accept-not-possible", where=f"--accept {code}")
    earlier = (entry for entry in accepted_beside(package, description_sha256) if entry.code not in codes)
    accepted = (*earlier, *(Acceptance(code, counts[code], by.strip(), day, note) for code in dict.fromkeys(codes)))
    content = {
        "format": _FORMAT,
        "description_sha256": description_sha256,
        "accepted": [asdict(entry) for entry in accepted],
    }
    write_text(accepted_path(package), json.dumps(content, ensure_ascii=False, indent=1) + "\n", mode=0o644)
    return accepted

"""What a person accepted of the reasons that keep a package back, in `PKG.accepted.json` beside it.

It holds for that package, by the sha256 of its description, and for as many places as there were: one more keeps the
package back again. To the next one (`PKG-2` after `PKG`) it follows where the places are the same: the same rules, and
the same bytes that break them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path

from noarkit.errors import UsageFault
from noarkit.forms.findings import Outcome, Place
from noarkit.safe.atomic import write_text
from noarkit.safe.digest import sha256_of
from noarkit.safe.paths import numbered_name
from noarkit.verdict import REASONS, Acceptance, Verdict

_FORMAT = 1


def accepted_path(package: Path) -> Path:
    """Where the acceptances of a package stand."""
    whole = package.resolve()
    return whole.parent / f"{whole.name}.accepted.json"


def accepted_beside(package: Path, description_sha256: str | None) -> tuple[Acceptance, ...]:
    """What was accepted of `package`; nothing where that was of another package, or where there is none."""
    return _read(package, description_sha256) if description_sha256 else ()


def accept_reasons(
    package: Path,
    description_sha256: str,
    verdict: Verdict,
    codes: Sequence[str],
    *,
    by: str,
    day: str,
    note: str,
    places: Mapping[str, str],
) -> tuple[Acceptance, ...]:
    """Keeps that `by` accepts these reasons of a verdict, as they are. Raises `UsageFault` for one that cannot be."""
    if not by.strip():
        raise UsageFault(what="accept-wants-name", where="--accept", fix="--by", own="name")
    counts = {reason.code: reason.count for reason in verdict.reasons if reason.grade == "stops"}
    for code in codes:
        if code not in counts or not REASONS[code].can_be_accepted:
            raise UsageFault(what="accept-not-possible", where=f"--accept {code}")
    earlier = (entry for entry in accepted_beside(package, description_sha256) if entry.code not in codes)
    new = (Acceptance(code, counts[code], by.strip(), day, note, places.get(code, "")) for code in dict.fromkeys(codes))
    return _keep(package, description_sha256, (*earlier, *new))


def follow_acceptances(package: Path, description_sha256: str, places: Mapping[str, str]) -> tuple[Acceptance, ...]:
    """Keeps for a package what was accepted of the one before it, as far as that is the same here; returns that."""
    for earlier in _packages_before(package):
        accepted = tuple(entry for entry in _read(earlier) if entry.places and entry.places == places.get(entry.code))
        if accepted:
            return _keep(package, description_sha256, accepted)
    return ()


def places_by_reason(package: Path, outcomes: Sequence[Outcome]) -> dict[str, str]:
    """A checksum of what breaks the rules of each reason: rules, what they say, and the bytes of documents. There is
    none for a reason of which a place is not known, or its file cannot be read."""
    lines: dict[str, list[str]] = {}
    unknown = set[str]()
    for outcome in outcomes:
        if outcome.rule.deposit == "stops":
            reason = outcome.rule.reason
            try:
                lines.setdefault(reason, []).extend(_place_lines(package, outcome))
            except OSError:
                unknown.add(reason)
    return {reason: _digest(of) for reason, of in lines.items() if reason not in unknown}


def _place_lines(package: Path, outcome: Outcome) -> Iterator[str]:
    if outcome.count > len(outcome.places):
        raise FileNotFoundError(outcome.rule.code)
    for place in outcome.places:
        yield json.dumps([outcome.rule.code, sorted(place.data.items()), _identity(package, place)], ensure_ascii=False)


def _identity(package: Path, place: Place) -> str:
    """The bytes of a document; of what stands in a file of the package itself, its system id."""
    if "/" in place.file:
        return sha256_of(package / place.file)
    if not place.system_id:
        raise FileNotFoundError(place.file)
    return place.system_id


def _digest(lines: Sequence[str]) -> str:
    return sha256("\n".join(sorted(lines)).encode()).hexdigest()


def _packages_before(package: Path) -> Iterator[Path]:
    """The packages of the same name with lower numbers, the newest first."""
    stem, number, suffix = numbered_name(package.resolve().name)
    for lower in range(number - 1, 0, -1):
        yield package.resolve().with_name(f"{stem}-{lower}{suffix}" if lower > 1 else f"{stem}{suffix}")


def _read(package: Path, description_sha256: str | None = None) -> tuple[Acceptance, ...]:
    """What was accepted of a package, of that description where one is meant."""
    try:
        content = json.loads(accepted_path(package).read_text("utf-8"))
        if description_sha256 in (None, content["description_sha256"]):
            return tuple(Acceptance(**entry) for entry in content["accepted"])
    except (OSError, ValueError, KeyError, TypeError):
        pass  # there is none, or a file of somebody else by that name
    return ()


def _keep(package: Path, description_sha256: str, accepted: tuple[Acceptance, ...]) -> tuple[Acceptance, ...]:
    content = {
        "format": _FORMAT,
        "description_sha256": description_sha256,
        "accepted": [asdict(entry) for entry in accepted],
    }
    write_text(accepted_path(package), json.dumps(content, ensure_ascii=False, indent=1) + "\n", mode=0o644)
    return accepted

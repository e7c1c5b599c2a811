"""Packages that lie in a folder with what their making told of them, each judged anew whenever somebody asks.

A verdict is never read back: facts are, and what may have become better since (a load that was verified, a reason that
a person accepted) is looked up again.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar  # JSON that was written before

from noarkit.errors import NoarkitError
from noarkit.extraction.accepted import accepted_beside
from noarkit.extraction.not_in_form import report_path
from noarkit.forms.extract_inside import description_sha256_in
from noarkit.forms.findings import ValidateResult
from noarkit.loading.load_proof import proof_now
from noarkit.reports.verdict_words import verdict_facts
from noarkit.results import HIDDEN, SPREAD, Result, json_field, json_value
from noarkit.safe.atomic import write_text
from noarkit.verdict import Facts, Load, LoadProof, Verdict, decide
from noarkit.words.texts import Texts

_ENDING = ".not-in-form.json"


@dataclass(frozen=True, slots=True)
class Delivery(Result):
    """A package, and whether it is ready; None where nobody judged it as it is now. `loads` are those behind it."""

    EVENT: ClassVar = "delivery"

    package: Path = field(metadata=json_field("path"))
    verdict: Verdict | None = field(metadata=SPREAD)
    loads: tuple[Load, ...] = field(default=(), metadata=HIDDEN)

    @property
    @json_value("package")
    def name(self) -> str:
        """The name of the package."""
        return self.package.name


def delivery_facts(delivery: Delivery, words: Texts) -> dict[str, object]:
    """A delivery as a page shows it."""
    runs = sorted({Path(load.run).name for load in delivery.loads})
    return {"name": delivery.package.name, "runs": runs, "verdict": verdict_facts(delivery.verdict, words)}


def deliveries_in(folder: Path, proofs: Mapping[str, LoadProof] = MappingProxyType({})) -> Iterator[Delivery]:
    """The packages right here, or one level below, that were made of an archive, by name. `proofs` are those of loads,
    by the sha256 of their plans, that no certificate says yet."""
    reports = {path for pattern in (f"*{_ENDING}", f"*/*{_ENDING}") for path in folder.glob(pattern)}
    for report in sorted(reports):
        package = report.parent / report.name.removesuffix(_ENDING)
        if package.exists():
            yield delivery_at(package, proofs)


def delivery_at(package: Path, proofs: Mapping[str, LoadProof] = MappingProxyType({})) -> Delivery:
    """The package at a path, judged by the facts that were noted beside it, with the loads behind it as they are proved
    by now; not judged where there are none, or where they are of another package."""
    content = _read_report(package)
    try:
        extract_sha256 = content["description_sha256"]
        if extract_sha256 != _description_sha256(package):
            return Delivery(package, None)
        facts = Facts.of_dict(content["facts"])
        facts = replace(facts, loads=_proved_by_now(facts.loads, proofs))
        return Delivery(package, decide(facts, accepted_beside(package, str(extract_sha256))), facts.loads)
    except (NoarkitError, OSError, KeyError, TypeError, ValueError, AttributeError):
        return Delivery(package, None)  # judged by nobody, by an older version, or it cannot be read


def judged_facts(result: ValidateResult, package: Path) -> Facts | None:
    """What is to be judged of a package that was validated, with what its making told beside it; nothing of that where
    it is of another package. None where there is no extract."""
    content = _read_report(package)
    flaws, loads, restored_count = frozenset[str](), tuple[Load, ...](), 0
    with suppress(KeyError, TypeError):
        if result.description_sha256 and content["description_sha256"] == result.description_sha256:
            flaws = frozenset(str(flaw) for flaw in content["flaws"])
            loads = tuple(map(Load.of_dict, content.get("loads", ())))
            restored_count = int(content.get("restored", 0))
    return result.facts(flaws, _proved_by_now(loads), restored_count)


def note_verdict(package: Path, verdict: Verdict, facts: Facts) -> None:
    """Adds to the report beside a package whether it is ready, and from what that follows."""
    content = _read_report(package)
    content |= {"depositable": verdict.is_ready, **verdict.to_dict(), "facts": facts.to_dict()}
    _write_report(package, content)


def hand_on(source: Path, package: Path, *, names_agreement: bool) -> bool:
    """Gives a package what the making of the one told that it was made of; False where that told nothing. Whoever reads
    it holds it against the extract that is in the package."""
    content = _read_report(source)
    if not isinstance(content.get("flaws"), list):
        return False
    flaws = [flaw for flaw in content["flaws"] if not names_agreement or flaw != "agreement-unnamed"]
    _write_report(package, {**content, "flaws": flaws})
    return True


def _proved_by_now(loads: tuple[Load, ...], proofs: Mapping[str, LoadProof] = MappingProxyType({})) -> tuple[Load, ...]:
    return tuple(replace(load, proof=proofs.get(load.plan_sha256) or _proof_of(load)) for load in loads)


def _proof_of(load: Load) -> LoadProof:
    try:
        return proof_now(load)
    except (NoarkitError, OSError, sqlite3.Error):
        return "none"  # a run that cannot be read proves nothing


def _read_report(package: Path) -> dict[str, Any]:
    """The report beside a package; empty where there is none, or a file of somebody else by that name."""
    try:
        content = json.loads(report_path(package.resolve()).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _write_report(package: Path, content: Mapping[str, object]) -> None:
    text = json.dumps(content, ensure_ascii=False, indent=1) + "\n"
    write_text(report_path(package), text, mode=0o644)


def _description_sha256(package: Path) -> str | None:
    """That of the description in a package; of an archive file, read once as long as nobody touches it."""
    status = package.stat()
    if package.is_dir():
        return description_sha256_in(package)
    return _packed_description_sha256(package, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=64)
def _packed_description_sha256(package: Path, _modified_ns: int, _size: int) -> str | None:
    return description_sha256_in(package)

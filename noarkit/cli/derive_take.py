"""`noarkit derive --take`: files that people made, taken as copies of documents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from noarkit.api import deriving
from noarkit.cli.derive_compare import Origin, open_origin
from noarkit.cli.derived import print_held
from noarkit.cli.next_command import next_command
from noarkit.cli.options import Session
from noarkit.cli.running import settings, working
from noarkit.copies.hand_copies import NO_DOCUMENT, SEVERAL_DOCUMENTS, Maker, TakenFile
from noarkit.errors import ItemUnreadable, UsageFault, gravest
from noarkit.loading.stopping import stop_fault
from noarkit.reports.copies_words import finding_name, reason_name
from noarkit.settings import Place
from noarkit.words.texts import Texts


@dataclass(frozen=True, slots=True)
class HandmadeFiles:
    """What is taken, as it was asked for: files, the document of a single one, who made them and with what."""

    files: Path
    document: str
    by: str
    made_with: str
    policy: Place | None


def take_files(session: Session, copies: Path, handmade: HandmadeFiles, origin: Origin) -> int:
    """Takes files as copies, prints what became of each, and how those that wait are accepted."""
    if origin.place is None:
        command = next_command(
            "derive", "SOURCE", "-o", copies, "--take", handmade.files, "--by", handmade.by or "NAME"
        )
        raise UsageFault(what="source-wanted", do=command)
    with working(session, drains=True) as work, open_origin(session, origin, work.emit) as source:
        result = deriving.take_from_source(
            *(source, copies, handmade.files, Maker(handmade.by.strip(), handmade.made_with), settings(session, None)),
            of=handmade.document,
            policy=handmade.policy,
            stop_request=work.stopping,
            listener=work.emit,
        )
    session.console.show(result, "\n".join(_lines(session.texts, result)))
    if result.held:
        print_held(session, result.held, copies)
    items_code = ItemUnreadable.exit_code if result.held + result.refused else 0
    return gravest(items_code, stop_fault(result.stopped_by).exit_code if result.stopped_by else 0)


def _lines(texts: Texts, result: deriving.TakeResult) -> Iterator[str]:
    yield texts.say("derive.taken", count=result.files, by=result.by, made=result.made, path=result.copies)
    for outcome in result.outcomes:
        yield f"  {outcome.file}: {_fate(texts, outcome)}"


def _fate(texts: Texts, outcome: TakenFile) -> str:
    if outcome.reason in (NO_DOCUMENT, SEVERAL_DOCUMENTS):
        return texts.say(f"derive.take-{outcome.reason}")
    if outcome.state == "failed":
        return texts.say("derive.take-refused", reason=reason_name(texts, outcome.reason))
    findings = ", ".join(finding_name(texts, code) for code in outcome.findings)
    return texts.say(f"derive.take-{outcome.state}", document=outcome.document, findings=findings)

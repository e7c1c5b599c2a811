"""`noarkit find-person`: where a person occurs in places and in local files, as a report for a request of access."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from noarkit.cli.exit_codes import ITEMS
from noarkit.cli.options import FILE, Session, command, option
from noarkit.cli.running import settings, working
from noarkit.errors import SecretOnTheLine, UsageFault, gravest
from noarkit.secrets import MAX_SECRET_BYTES, read_private_file
from noarkit.settings import imprint
from noarkit.words.texts import plain

if TYPE_CHECKING:
    from noarkit.api.finding_persons import PersonReport
    from noarkit.catalogue.persons.occurrences import Occurrence

_STDIN = "-"
_LIKE_A_NUMBER = re.compile(r"[\d\s.\-/]{6,}\Z")
_MOST_SHOWN = 200


@command("find-person", exits=(3, 4, 5, 6, 8, 9, 10, 130, 143))
@click.argument("places", metavar="PLACE...", nargs=-1)
@option("--id", "ids", metavar="FILE")
@option("--name", "names", metavar="FILE")
@option("--because", metavar="TEXT")
@option("--without-documents", is_flag=True)
@option("--local-state", is_flag=True)
@option("--refresh", is_flag=True)
@option("--csv", type=FILE, metavar="FILE")
@option("--html", type=FILE, metavar="FILE")
def find_person_command(
    session: Session,
    *,
    places: Sequence[str],
    ids: str | None,
    names: str | None,
    because: str | None,
    without_documents: bool,
    local_state: bool,
    refresh: bool,
    csv: Path | None,
    html: Path | None,
) -> int:
    """A line for each hit, what could not be searched, and the sums; 3 where anything could not be searched."""
    from noarkit.api.finding_persons import PersonSearchOptions, find_person

    if not places and not local_state:
        raise UsageFault(what="missing-argument", where="noarkit find-person", fix="", own="place")
    if ids == _STDIN and names == _STDIN:
        raise UsageFault(what="bad-value", where="--id - --name -")
    lines = {name: _lines_of(session, name, value) for name, value in (("--id", ids), ("--name", names)) if value}
    options = PersonSearchOptions(
        because or "", documents=not without_documents, refresh=refresh, local_state=local_state
    )
    with working(session) as work:
        report = find_person(
            places,
            ids=lines.get("--id", ()),
            names=lines.get("--name", ()),
            options=options,
            settings=settings(session, None),
            listener=work.emit,
        )
    _print(session, report)
    _write(session, report, because or "", csv, html)
    faults = [place.fault for place in report.places if place.fault is not None]
    for fault in faults:
        session.console.fault(fault)
    return gravest(*(fault.exit_code for fault in faults), 0 if report.is_complete else ITEMS)


def _lines_of(session: Session, name: str, value: str) -> list[str]:
    """The lines of a private file, or of what comes through stdin. Faults never repeat what stands on the command line:
    it may be the number or the name itself."""
    if value == _STDIN:
        content = sys.stdin.buffer.read(MAX_SECRET_BYTES)
    elif not os.path.lexists(value):
        if _LIKE_A_NUMBER.match(value):
            raise SecretOnTheLine(where=name)
        raise UsageFault(what="person-file", where=name)
    else:
        content = read_private_file(Path(value), session.environment)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        # not chained: the system's fault would repeat the bytes
        raise UsageFault(what="person-not-text", where=name) from None
    return [line for line in map(str.strip, text.splitlines()) if line]


def _print(session: Session, report: PersonReport) -> None:
    console, texts = session.console, session.texts
    if report.odd_ids:
        console.notify("person.odd-id-told")
    hit_count = 0
    for hit in report.hits():
        if console.as_json or hit_count < _MOST_SHOWN:
            console.show(hit, _line(session, hit))
        hit_count += 1
    if hit_count > _MOST_SHOWN and not console.as_json:
        console.notify("person.more", count=hit_count - _MOST_SHOWN)
    _print_gaps(session, report)
    for place in report.places:
        key = "person.place-line" if place.fault is None else "person.place-fault"
        console.show(place, texts.say(key, **place.to_dict()))
    sums = report.to_dict()
    found = any(sums[name] for name in ("certain", "possible"))
    lines = [texts.say("person.sums" if found else "person.not-found", **sums)]
    if sums["unsearched"]:
        lines.append(texts.say("person.sums-unsearched", **{name: count or None for name, count in sums.items()}))
    elif not found:
        lines.append(texts.say("person.all-searched-told"))
    media = report.occurrences.count_media()
    if any(media.values()):
        lines.append(texts.say("person.not-looked-into", **media))
    line = "\n".join(lines)
    console.show(report, line if report.is_complete else console.verdict(line, "warn"))
    if any(place.documents or sums["unsearched"] for place in report.places):
        console.notify("person.in-pictures")
    if any(place.kind == "archive" for place in report.places):
        console.notify("person.archive-rights")


def _print_gaps(session: Session, report: PersonReport) -> None:
    """What could not be searched, each with its reason; the number of all stands in the sums."""
    from noarkit.reports.person_page import reason_of

    console, texts = session.console, session.texts
    for place, gap in enumerate(report.unsearched()):
        if console.as_json or place < _MOST_SHOWN:
            key = "person.gap-in-part" if gap.in_part else "person.gap"
            line = texts.say(key, ref=gap.ref, reason=reason_of(gap, texts))
            console.show(gap, line)
        else:
            console.notify("person.more-gaps")
            break


def _line(session: Session, hit: Occurrence) -> str:
    from noarkit.reports.person_page import where_of

    texts = session.texts
    parts = [f"{texts.say(f'person.{hit.certainty}-short'):<8}", plain(hit.ref)]
    parts += [plain(hit.type)] if hit.type else []
    parts += [plain(hit.ident)] if hit.ident else []
    parts += [f"[{texts.say('browse.mark.screened')}]"] if hit.screened else []
    return "  ".join([*parts, where_of(hit, texts)])


def _write(session: Session, report: PersonReport, because: str, csv: Path | None, html: Path | None) -> None:
    from noarkit.reports.person_page import write_person_page, write_person_table

    lang = session.texts.lang
    if csv is not None:
        write_person_table(csv, lang, report.occurrences)
        session.console.result("report", session.texts.say("report.written", path=csv), path=str(csv))
    if html is not None:
        write_person_page(
            *(html, lang, report.to_dict(), [place.to_dict() for place in report.places], report.occurrences),
            because=because,
            imprint=imprint(settings(session, None)),
        )
        session.console.result("report", session.texts.say("report.written", path=html), path=str(html))

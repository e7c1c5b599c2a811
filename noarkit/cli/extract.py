"""`noarkit extract`: makes a package of an archive; the same again goes on where the last stopped."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import get_args

import click

from noarkit import deliveries
from noarkit.cli.options import Session, command, option
from noarkit.cli.running import settings, working
from noarkit.extract import not_in_form
from noarkit.extract.changes import NO_FLAWS, ChangeLog
from noarkit.extract.run import Extracted
from noarkit.extract.selection import Selection

_DAY = click.DateTime(("%Y-%m-%d",))
_NOT_DEPOSITABLE = 3
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_FOLDER = click.Path(file_okay=False, path_type=Path)


@command("extract", exits=(3, 4, 5, 6, 7, 8, 9, 10, 130, 143))
@option("-o", "--output", type=_FOLDER, required=True, metavar="PKG")
@option("--as", "form", type=click.Choice(deliveries.FORMS), default="noark5")
@option("--arkiv", metavar="NAME")
@option("--each", is_flag=True)
@option("--arkivdel", metavar="NAME")
@option("--klasse", metavar="NAME")
@option("--from", "since", type=_DAY, metavar="DATE")
@option("--to", "until", type=_DAY, metavar="DATE")
@option("--select", "query", metavar="QUERY")
@option("--include-open", is_flag=True)
@option("--schemas", type=_FOLDER, metavar="DIR")
@option("--package", type=_FILE, metavar="FILE")
@option("--no-carry-in-vsm", is_flag=True)
@option("--kept-log", type=_FILE, metavar="FILE")
@option("--change-log", type=click.Choice(get_args(ChangeLog)), default="from-archive")
@option("--archive", metavar="URL", variable=None)
def extract_command(
    session: Session,
    *,
    output: Path,
    form: str,
    arkiv: str | None,
    each: bool,
    arkivdel: str | None,
    klasse: str | None,
    since: datetime | None,
    until: datetime | None,
    query: str | None,
    include_open: bool,
    schemas: Path | None,
    package: Path | None,
    no_carry_in_vsm: bool,
    kept_log: Path | None,
    change_log: ChangeLog,
    archive: str | None,
) -> int:
    """Extracts, and says what was made and what stands against depositing it."""
    days = (since.date() if since else None, until.date() if until else None)
    wish = deliveries.Wish(
        Selection(arkiv, arkivdel, klasse, *days, query),
        package,
        schemas,
        include_open,
        not no_carry_in_vsm,
        kept_log,
        change_log,
    )
    if each:
        return _extract_each(session, output, wish, form, archive)
    with working(session, drains=True) as work:
        made = deliveries.extract(
            output,
            wish,
            form=form,
            settings=settings(session, archive),
            stopping=work.stopping,
            tell=work.tell,
        )
    _tell(session, made)
    return 0 if made.depositable else _NOT_DEPOSITABLE


def _extract_each(session: Session, output: Path, wish: deliveries.Wish, form: str, archive: str | None) -> int:
    """A package of each fonds, each told as it is made; what became of all stands in one list."""
    done: list[deliveries.Each] = []
    with working(session, drains=True) as work:
        site = settings(session, archive)
        for one in deliveries.extract_each(
            output, wish, form=form, settings=site, stopping=work.stopping, tell=work.tell
        ):
            done.append(one)
            if one.made is not None:
                _tell(session, one.made)
            if one.fault is not None:
                session.face.fault(one.fault)
    faults = [one.fault for one in done if one.fault is not None]
    report = done[0].package.parent / deliveries.EXTRACTS if done else output
    count = sum(one.made is not None for one in done)
    session.face.tell("extract.each", count=count, refused=len(faults), path=report)
    if faults:
        return max(fault.exit_code for fault in faults)
    return 0 if all(one.made is None or one.made.depositable for one in done) else _NOT_DEPOSITABLE


def _verdict(session: Session, made: Extracted) -> str:
    """Whether it can be deposited, and what stands against it with the way to mend it."""
    told = session.texts
    if made.depositable:
        return told.say("extract.depositable")
    flaws = [told.say(f"extract.flaw.{flaw}") for flaw in made.flaws if flaw not in NO_FLAWS]
    if made.errors:
        flaws.insert(0, told.say("extract.flaw.errors", count=made.errors, package=made.package))
    return "\n".join([told.say("extract.not-depositable"), *(f"  - {flaw}" for flaw in flaws)])


def _tell(session: Session, made: Extracted) -> None:
    told, units = session.texts, made.units
    lines = [
        told.say("extract.made", path=made.package),
        told.say(
            "extract.holds",
            folders=units.get("mappe", 0),
            records=units.get("registrering", 0),
            files=made.files,
            size=told.size(made.bytes),
        ),
        told.say("extract.journals", count=made.journal_entries),
        *([told.say("extract.changes", count=made.changes)] if made.changes else []),
        *(told.say(f"extract.{flaw}") for flaw in made.flaws if flaw in NO_FLAWS),
    ]
    lines.append(told.say("extract.validated", errors=made.errors, warnings=made.warnings))
    lines.append(_verdict(session, made))
    if made.carried:
        lines.append(told.say("extract.carried", count=made.carried))
    if made.beside:
        lines.append(told.say("extract.beside", count=made.beside, table=not_in_form.table_path(made.package)))
    lines.append(told.say("extract.report", path=made.report))
    session.face.result(
        "extracted",
        "\n".join(lines),
        package=str(made.package),
        report=str(made.report),
        units=units,
        files=made.files,
        bytes=made.bytes,
        journal_entries=made.journal_entries,
        changes=made.changes,
        defaults=made.defaults,
        carried=made.carried,
        beside=made.beside,
        depositable=made.depositable,
        flaws=list(made.flaws),
        errors=made.errors,
        warnings=made.warnings,
    )
    session.face.count(read=units.get("registrering", 0), bytes=made.bytes)

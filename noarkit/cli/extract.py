"""`noarkit extract`: makes a package of an archive; the same again goes on where the last stopped."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from noarkit.api import extracting
from noarkit.cli.form_choices import EXTRACT_PRODUCTS
from noarkit.cli.option_values import options_of
from noarkit.cli.options import Session, command, option
from noarkit.cli.running import settings, working
from noarkit.extraction import copies, not_in_form
from noarkit.extraction.making_note import forget_note
from noarkit.extraction.run import ExtractResult
from noarkit.forms.noark5.spec import DOCUMENT_FOLDER
from noarkit.reports.verdict_words import verdict_lines
from noarkit.verdict import NOT_READY_EXIT, Load

_LOG_SENTENCES = frozenset({"no-changes", "changes-noted"})


@command("extract", exits=(3, 4, 5, 6, 7, 8, 9, 10, 130, 143))
@option("-o", "--output", type=click.Path(path_type=Path), required=True, metavar="PKG")
@option("--as", "form", type=EXTRACT_PRODUCTS, default="noark5")
@options_of(options=extracting.ExtractOptions)
@option("--each", is_flag=True)
@option("--archive", metavar="URL", variable=None)
def extract_command(
    session: Session,
    *,
    output: Path,
    form: str,
    options: extracting.ExtractOptions,
    each: bool,
    archive: str | None,
) -> int:
    """Extracts, and says what was made and whether it is ready for deposit."""
    if each:
        return _extract_each(session, output, options, form, archive)
    with working(session, drains=True) as work:
        result = extracting.make_extract(
            output,
            options,
            form=form,
            settings=settings(session, archive),
            stop_request=work.stopping,
            listener=work.emit,
        )
    _print_result(session, result)
    session.console.once_told(partial(forget_note, result.package, "extract"))
    return 0 if result.depositable else NOT_READY_EXIT


def _extract_each(
    session: Session, output: Path, options: extracting.ExtractOptions, form: str, archive: str | None
) -> int:
    """A package of each fonds, each told as it is made; what became of all stands in one list."""
    results: list[extracting.FondsResult] = []
    with working(session, drains=True) as work:
        archive_settings = settings(session, archive)
        for result in extracting.make_each_extract(
            output, options, form=form, settings=archive_settings, stop_request=work.stopping, listener=work.emit
        ):
            results.append(result)
            if result.extracted is not None:
                _print_result(session, result.extracted)
                session.console.once_told(partial(forget_note, result.package, "extract"))
            if result.fault is not None:
                session.console.fault(result.fault)
    faults = [result.fault for result in results if result.fault is not None]
    report = results[0].package.parent / extracting.EXTRACTS if results else output
    count = sum(result.extracted is not None for result in results)
    session.console.notify("extract.each", count=count, refused=len(faults), path=report)
    if faults:
        return max(fault.exit_code for fault in faults)
    return 0 if all(result.extracted is None or result.extracted.depositable for result in results) else NOT_READY_EXIT


def _copies_line(session: Session, result: ExtractResult) -> str:
    """How many archival copies went along, and where they and their originals lie."""
    return session.texts.say(
        "extract.copies",
        count=result.copies,
        copies_in=result.copies_in or f"{DOCUMENT_FOLDER}/",
        originals_in=result.originals_in or None,
        left_out=result.originals_left_out,
    )


def _load_line(session: Session, load: Load) -> str:
    """What became of the records of a load, side by side: read, in the archive, left out, and what of it is here."""
    return session.texts.say(
        "extract.load",
        run=Path(load.run).name,
        read=load.read,
        archived=load.archived,
        left_out=load.left_out,
        objects=load.objects,
        lost=load.lost or None,
    )


def _print_result(session: Session, result: ExtractResult) -> None:
    texts, units = session.texts, result.units
    lines = [
        texts.say("extract.made", path=result.package),
        texts.say(
            "extract.holds",
            folders=units.get("mappe", 0),
            records=units.get("registrering", 0),
            files=result.files,
            size=texts.size(result.bytes),
        ),
        texts.say("extract.journals", count=result.journal_entries),
        *([texts.say("extract.changes", count=result.changes)] if result.changes else []),
        *(texts.say(f"extract.{flaw}") for flaw in result.flaws if flaw in _LOG_SENTENCES),
    ]
    lines.append(texts.say("extract.validated", errors=result.errors, warnings=result.warnings))
    if result.carried:
        lines.append(texts.say("extract.carried", count=result.carried))
    if result.beside:
        lines.append(texts.say("extract.beside", count=result.beside, table=not_in_form.table_path(result.package)))
    if result.copies:
        lines.append(_copies_line(session, result))
    if result.access_copies:
        lines.append(texts.say("extract.access", count=result.access_copies, access_in=result.access_in))
    if result.access_left_out:
        lines.append(texts.say("extract.access-left-out", count=result.access_left_out))
    if result.formats_not_taken:
        table = copies.table_path(result.package)
        lines.append(texts.say("extract.formats-not-taken", count=result.formats_not_taken, table=table))
    lines += [_load_line(session, load) for load in result.loads]
    lines.append(texts.say("extract.report", path=result.report))
    lines += [] if result.verdict is None else verdict_lines(result.verdict, texts)
    session.console.show(result, "\n".join(lines))
    session.console.count(read=units.get("registrering", 0), bytes=result.bytes)

"""`noarkit derive`: makes archival copies of the documents of a source; the same again goes on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from shlex import quote

import click

from noarkit.api import deriving
from noarkit.cli.derive_compare import Origin, check_choices, compare_copy, open_origin
from noarkit.cli.derive_take import HandmadeFiles, take_files
from noarkit.cli.derived import exit_code_of, print_derived
from noarkit.cli.option_values import options_of
from noarkit.cli.options import Session, command, option
from noarkit.cli.running import settings, working
from noarkit.copies.store import CopyStore
from noarkit.errors import UsageFault
from noarkit.events import EventFields
from noarkit.extraction.selection import Selection
from noarkit.loading.options import SourceOptions
from noarkit.settings import imprint

_CHANGED = 7
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_FOLDER = click.Path(file_okay=False, path_type=Path)

EVENTS: EventFields = {"accepted": {"copies": "text", "accepted": "count", "by": "text"}}


@command("derive", exits=(3, 4, 5, 6, 7, 8, 9, 10, 130, 143))
@click.argument("source", metavar="SOURCE", required=False)
@option("-o", "--output", type=_FOLDER, required=True, metavar="COPIES")
@options_of(choices=deriving.DeriveOptions, reading=SourceOptions)
@option("--accept", multiple=True, metavar="WHAT")
@option("--by", metavar="NAME")
@option("--take", type=click.Path(exists=True, path_type=Path), metavar="FILE", variable=None)
@option("--for", "document", metavar="KEY", variable=None)
@option("--made-with", metavar="PROGRAM", variable=None)
@option("--check", is_flag=True)
@option("--seal", is_flag=True)
@option("--seal-key", type=_FILE, metavar="FILE", variable=None)
@option("--trust-key", type=_FILE, metavar="FILE", multiple=True, variable=None)
@option("--report", "report", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE")
@option("--compare", metavar="KEY")
@option("--titles", is_flag=True)
@option("--archive", metavar="URL", variable=None)
@options_of(selection=Selection, without=("since", "until"))
@option("--add", is_flag=True)
def derive_command(
    session: Session,
    *,
    source: str | None,
    output: Path,
    choices: deriving.DeriveOptions,
    reading: SourceOptions,
    accept: tuple[str, ...],
    by: str | None,
    take: Path | None,
    document: str | None,
    made_with: str | None,
    check: bool,
    seal: bool,
    seal_key: Path | None,
    trust_key: tuple[Path, ...],
    report: Path | None,
    compare: str | None,
    titles: bool,
    archive: str | None,
    selection: Selection,
    add: bool,
) -> int:
    """Makes copies, or accepts or checks those that are there."""
    _accept(session, output, accept, by)
    if check:
        return _check(session, output, trust_key)
    if seal or seal_key is not None:
        return _seal(session, output, seal_key)
    check_choices(output, selection, source=source, archive=archive, compare=compare, add=add)
    origin = Origin(source, reading)
    if take is not None:
        handmade = HandmadeFiles(take, document or "", by or "", made_with or "", choices.policy)
        return take_files(session, output, handmade, origin)
    if compare is not None:
        return compare_copy(session, output, compare, report, origin)
    if archive is not None:
        from noarkit.cli.derive_archive import derive_of_archive  # with all that loads into an archive

        return derive_of_archive(session, output, selection, choices, archive=archive, add=add)
    if source is None:
        return _without_source(session, output, report, titles=titles, accepted=bool(accept))
    with working(session, drains=True) as work, open_origin(session, origin, work.emit) as place:
        result = deriving.derive_source(
            *(place, output, choices, settings(session, None)), stop_request=work.stopping, listener=work.emit
        )
    return _result(session, output, result, report, titles=titles)


def _result(session: Session, copies: Path, result: deriving.DeriveResult, report: Path | None, *, titles: bool) -> int:
    """Prints what became of the documents, and writes the report where one is wished and something was done."""
    print_derived(session, result, copies, has_report=report is not None)
    _report(session, copies, None if result.dry_run else report, titles=titles)
    return exit_code_of(result)


def _without_source(session: Session, copies: Path, report: Path | None, *, titles: bool, accepted: bool) -> int:
    """What can be done with copies alone: a report of them, after some were accepted or not."""
    if report is None and not accepted:
        raise UsageFault(what="source-wanted", fix="", own="source")
    _report(session, copies, report, titles=titles)
    return 0


def _accept(session: Session, copies: Path, what: Sequence[str], by: str | None) -> None:
    if not what:
        return
    count = deriving.accept_copies(copies, what, by=by or "", settings=settings(session, None))
    session.console.result(
        "accepted", session.texts.say("derive.accepted", count=count, by=by), copies=str(copies), accepted=count, by=by
    )


def _report(session: Session, copies: Path, path: Path | None, *, titles: bool) -> None:
    if path is None:
        return
    from noarkit.reports.copies_page import REPORT_FORMATS, write_copies_report  # with what draws pages

    kind = next((kind for kind in REPORT_FORMATS if path.suffix == f".{kind}"), None)
    if kind is None:
        raise UsageFault(what="bad-value", where="--report", fix=f"--report {quote(str(path.with_suffix('.html')))}")
    with CopyStore.open(copies) as store:
        page_imprint = imprint(settings(session, None)).of_day()
        write_copies_report(store, path, kind, session.texts.lang, titles=titles, imprint=page_imprint)
    session.console.result("report", session.texts.say("derive.report", path=path), path=str(path))


def _seal(session: Session, copies: Path, seal_key: Path | None) -> int:
    result, texts = deriving.seal_copies(copies, seal_key=seal_key, settings=settings(session, None)), session.texts
    text = texts.say(
        "derive.sealed",
        count=result.objects,
        size=texts.size(result.bytes),
        fingerprint=result.fingerprint,
        copies=copies,
        seal=(seal_key or session.config().seal.key or copies).name,
    )
    session.console.show(result, text)
    return 0


def _check(session: Session, copies: Path, trust_key: tuple[Path, ...]) -> int:
    own, texts = settings(session, None), session.texts
    result = deriving.check_copies(copies, trust_key=trust_key or None, settings=own)
    size = texts.size(result.bytes)
    lines = [texts.say("derive.checked", count=result.objects, size=size)]
    lines += [texts.say("derive.seal-good", fingerprint=result.sealed_by)] if result.sealed_by else []
    lines += [texts.say("derive.missing", sha256=sha256) for sha256 in result.missing]
    lines += [texts.say("derive.changed", sha256=sha256) for sha256 in result.changed]
    if result.unknown:
        lines.append(texts.say("derive.unknown", count=result.unknown))
    session.console.show(result, "\n".join(lines))
    return 0 if result.good else _CHANGED

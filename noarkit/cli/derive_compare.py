"""`noarkit derive --compare`: one document beside its copy, on a page; and which options of `derive` go together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote

from noarkit.api.source_reading import find_asked, read_as_asked
from noarkit.cli.next_command import next_command
from noarkit.cli.options import Session
from noarkit.cli.running import settings
from noarkit.copies.store import CopyStore
from noarkit.errors import UsageFault
from noarkit.events import Listener, ignore_event
from noarkit.extraction.selection import Selection
from noarkit.loading.next_step import free_name
from noarkit.loading.options import SourceOptions
from noarkit.records import Source, released
from noarkit.settings import imprint


@dataclass(frozen=True, slots=True)
class Origin:
    """The source that originals are read from, and how it is read; without a place only copies are shown."""

    place: str | None
    reading: SourceOptions = field(default_factory=SourceOptions)


def check_choices(
    copies: Path, selection: Selection, *, source: str | None, archive: str | None, compare: str | None, add: bool
) -> None:
    """Raises `UsageFault` for options of `derive` that do not go together."""
    if archive is None and (add or selection.description):
        raise UsageFault(what="archive-wanted", fix="--archive", own="archive")
    if archive is not None and source is not None:
        raise UsageFault(what="source-and-archive", where=source)
    if archive is not None and compare is not None:
        command = next_command("derive", "-o", copies, "--compare", compare)
        raise UsageFault(what="compare-and-archive", where=compare, do=command)


def compare_copy(session: Session, copies: Path, key: str, report: Path | None, origin: Origin) -> int:
    """Writes the page of the documents with a record key or sha256. Nothing is converted, and nothing changed."""
    if report is None or report.suffix != ".html":
        page = free_name(Path("comparison.html")) if report is None else str(report.with_suffix(".html"))
        raise UsageFault(what="page-wanted", where="--compare", fix=f"--report {quote(page)}")
    from noarkit.reports.side_by_side import write_side_by_side  # with what draws pages

    with ExitStack() as stack:
        store = stack.enter_context(CopyStore.open(copies))
        source = stack.enter_context(open_origin(session, origin)) if origin.place is not None else None
        page_imprint = imprint(settings(session, None)).of_day()
        write_side_by_side(store, report, key, session.texts.lang, source, imprint=page_imprint)
    session.console.result("report", session.texts.say("derive.report", path=report), path=str(report))
    return 0


@contextmanager
def open_origin(session: Session, origin: Origin, emit: Listener = ignore_event) -> Iterator[Source]:
    """The source that is named, read on its terms, for as long as the block lasts."""
    assert origin.place is not None  # noqa: S101  # whoever opens one knows of it
    with released(find_asked(origin.place, origin.reading, settings(session, None), emit=emit)) as place:
        yield read_as_asked(place, origin.reading)

"""`noarkit derive --compare`: one document beside its copy, on a page; and which options of `derive` go together."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from noarkit.api import deriving, origins
from noarkit.cli.options import Session
from noarkit.cli.running import settings
from noarkit.copies.store import CopyStore
from noarkit.errors import UsageFault
from noarkit.extraction.selection import Selection
from noarkit.records import Source, accept_damage, released
from noarkit.reports.side_by_side import write_side_by_side


@dataclass(frozen=True, slots=True)
class Original:
    """The source that originals are read from, and how it is read; without a place only copies are shown."""

    place: str | None
    recipe: Path | None = None
    source_kind: str | None = None
    encoding: str | None = None
    despite_damage: bool = False


def check_choices(
    copies: Path, selection: Selection, *, source: str | None, archive: str | None, compare: str | None, add: bool
) -> None:
    """Raises `UsageFault` for options of `derive` that do not go together."""
    if archive is None and (add or selection.description):
        raise UsageFault(what="archive-wanted", do=f"noarkit derive --archive URL -o {copies}")
    if archive is not None and source is not None:
        raise UsageFault(what="source-and-archive", where=source)
    if archive is not None and compare is not None:
        raise UsageFault(
            what="compare-and-archive", where=compare, do=f"noarkit derive -o {copies} --compare {compare}"
        )


def write_comparison(session: Session, copies: Path, key: str, report: Path | None, original: Original) -> int:
    """Writes the page of the documents with a record key or sha256. Nothing is converted, and nothing changed."""
    if report is None or report.suffix != ".html":
        raise UsageFault(what="page-wanted", where="--compare", do=f"--compare {key} --report FILE.html")
    with ExitStack() as stack:
        store = stack.enter_context(CopyStore.open(copies))
        source = _opened(session, original, stack)
        write_side_by_side(store, report, key, session.texts.lang, source)
    session.console.result("report", session.texts.say("derive.report", path=report), path=str(report))
    return 0


def _opened(session: Session, original: Original, stack: ExitStack) -> Source | None:
    if original.place is None:
        return None
    own, kind = settings(session, None), original.source_kind
    found = origins.source_at(original.place, own, kind=kind, encoding=original.encoding)
    source = deriving.apply_recipe(stack.enter_context(released(found)), original.recipe)
    return accept_damage(source, despite_damage=original.despite_damage)

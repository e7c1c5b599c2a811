"""`noarkit derive --archive`: copies of documents that are in an archive, and their addition to it."""

from __future__ import annotations

from pathlib import Path

from noarkit.api import adding
from noarkit.api.deriving import DeriveOptions
from noarkit.cli.derived import exit_code_of, print_derived
from noarkit.cli.ingest import load_run
from noarkit.cli.options import Session
from noarkit.cli.running import CommandWork, settings, working
from noarkit.embedded import keep_services
from noarkit.errors import ItemUnreadable, gravest
from noarkit.extraction.selection import Selection
from noarkit.loading.folder import RunFolder
from noarkit.loading.options import IngestOptions

_GOES_ON = (0, ItemUnreadable.exit_code)


def derive_of_archive(
    session: Session, copies: Path, selection: Selection, options: DeriveOptions, *, archive: str, add: bool
) -> int:
    """Makes copies, and adds them where that is wished; what an earlier call began to add is finished first."""
    code = 0
    with working(session, drains=True) as work, keep_services():
        begun = adding.unfinished_addition(copies) if add and not options.dry_run else None
        if begun is not None:
            session.console.notify("derive.goes-on", run=begun)
            code = _load(work, begun, archive)
            if code not in _GOES_ON:
                return code
        result = adding.derive_archive(
            copies,
            selection,
            options,
            add=add,
            settings=settings(session, archive),
            stop_request=work.stopping,
            listener=work.emit,
        )
        print_derived(session, result.derived, copies)
        code = gravest(code, exit_code_of(result.derived))
        if add and not options.dry_run and not result.derived.stopped_by:
            _print_planned(session, result)
        if result.run is not None:
            code = gravest(code, _load(work, result.run, archive))
    return code


def _print_planned(session: Session, result: adding.DeriveArchiveResult) -> None:
    key = "derive.adds-nothing" if result.run is None else "derive.adds"
    text = session.texts.say(key, count=result.copies, run=result.run)
    session.console.show(result, text)


def _load(work: CommandWork, run: Path, archive: str) -> int:
    return load_run(work, RunFolder(run), IngestOptions(archive=archive))

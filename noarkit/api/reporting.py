"""Writes the reports and lists of a run."""

from __future__ import annotations

from pathlib import Path

from noarkit.loading.folder import RunFolder
from noarkit.reports import write_plan_outcome, write_reports, write_run_report
from noarkit.reports.lists import write_lists
from noarkit.reports.premis import write_premis
from noarkit.settings import Place, Settings, resolve_settings


def report(
    run: Place, *, lang: str | None = None, premis: bool = False, settings: Settings | None = None
) -> tuple[Path, ...]:
    """Writes the reports and lists of a run again, and returns their paths.

    Options:
        lang: the language of the reports (`"en"`, `"nb"`, `"nn"`); without it that of the settings.
        premis: also writes the custody chain of every file as PREMIS 3.
        settings: what `read_settings` returns; without it `noarkit.toml` and the environment, as for a command.

    Raises `JournalFault` where `run` is no run, `DiskFull`.
    """
    folder = RunFolder(Path(run))
    folder.plan()
    paths = write_reports(folder, lang or resolve_settings(None, settings).config.lang)
    return (*paths, write_premis(folder)) if premis else tuple(paths)


def write_run_results(folder: RunFolder, lang: str) -> None:
    """Writes the report and the lists of a run that began, also where it broke off."""
    if folder.journal.exists():
        write_plan_outcome(folder, lang)
        write_run_report(folder, lang)
        write_lists(folder, lang)

"""Extracts an archive as a package of any form: as a Noark 5 extract first, which is then packed."""

from __future__ import annotations

import os
import shutil
from dataclasses import asdict, replace
from pathlib import Path

from noarkit.archive.port import Archive
from noarkit.errors import UsageFault
from noarkit.events import Listener, ignore_event
from noarkit.extraction.convert import NOARK, ConvertOptions, conversion_note, convert
from noarkit.extraction.run import ExtractResult, ExtractSettings, extract, extraction_note, noted_result


def deliver(
    archive: Archive, target: Path, options: ConvertOptions, settings: ExtractSettings, *, emit: Listener = ignore_event
) -> ExtractResult:
    """An extract beside its target, then the package that is made of it; a call that was killed goes on with either.

    Raises what `extract` and `convert` raise.
    """
    work, note = delivery_folder(target), extraction_note(target, options.form, settings, options.mime_compat)
    extract_path = work / NOARK
    options = replace(options, originals=work / "originals", keep_note=True)
    conversion = conversion_note(str(extract_path.absolute()), target, options)
    if note.result() is None:
        if os.path.lexists(target) and conversion.result() is None:
            raise UsageFault(what="exists", where=str(target))
        work.mkdir(parents=True, exist_ok=True)
        extract_settings = replace(settings, originals=options.originals, keep_note=True)
        before = extraction_note(extract_path, NOARK, extract_settings)
        if os.path.lexists(extract_path) and before.result() is None:
            raise UsageFault(what="other-extract", where=str(work))
        extracted = extract(archive, extract_path, extract_settings, emit=emit)
        converted = convert(extract_path, target, options, emit=emit)
        for report in work.glob(f"{NOARK}.*"):
            report.replace(_report_beside(target, report))
        delivered = replace(
            extracted,
            package=target,
            report=_report_beside(target, extracted.report),
            copies=converted.copies,
            copies_in=converted.copies_in,
            originals_in=converted.originals_in,
            access_copies=converted.access_copies,
            access_in=converted.access_in,
            access_left_out=extracted.access_left_out - converted.access_copies,
        )
        note.write(asdict(delivered))
    conversion.forget()
    shutil.rmtree(work, ignore_errors=True)
    return noted_result(note, settings)


def _report_beside(target: Path, report: Path) -> Path:
    """Where a report of the extract lies beside the package."""
    return target.parent / (target.name + report.name.removeprefix(NOARK))


def delivery_folder(target: Path) -> Path:
    """Where the making of `target` is under way."""
    return target.parent / f".{target.name}.noarkit-delivery"

"""Extracts an archive as a package of any form: as a Noark 5 extract first, which is then packed."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict, replace
from pathlib import Path

from noarkit.archive.port import Archive
from noarkit.errors import UsageFault
from noarkit.events import Listener, ignore_event
from noarkit.extraction.convert import NOARK, ConvertOptions, convert
from noarkit.extraction.run import ExtractResult, ExtractSettings, extract
from noarkit.safe.atomic import write_text


def deliver(
    archive: Archive, target: Path, options: ConvertOptions, settings: ExtractSettings, *, emit: Listener = ignore_event
) -> ExtractResult:
    """An extract beside its target, then the package that is made of it; a call that was killed goes on with either.

    Raises what `extract` and `convert` raise.
    """
    work = delivery_folder(target)
    if os.path.lexists(target) and not (work / "extracted.json").is_file():
        raise UsageFault(what="exists", where=str(target))
    extract_path, facts_path, named_path = work / NOARK, work / "extracted.json", work / "named"
    originals = work / "originals"
    work.mkdir(parents=True, exist_ok=True)
    if facts_path.is_file():
        facts = json.loads(facts_path.read_text("utf-8"))
    else:
        if extract_path.exists():  # killed before it was told what it holds
            shutil.rmtree(extract_path)
        extracted = extract(archive, extract_path, replace(settings, originals=originals), emit=emit)
        facts = {**asdict(extracted), "package": "", "report": _report_name(target, extracted.report)}
        write_text(facts_path, json.dumps(facts))
    if not named_path.is_file():
        converted = convert(extract_path, target, replace(options, originals=originals), emit=emit)
        places = {"copies": converted.copies, "copies_in": converted.copies_in, "originals_in": converted.originals_in}
        write_text(named_path, json.dumps(places))
    facts |= json.loads(named_path.read_text("utf-8"))
    for report in work.glob(f"{NOARK}.*"):
        report.replace(target.parent / _report_name(target, report))
    shutil.rmtree(work, ignore_errors=True)
    report = target.parent / str(facts["report"])
    return ExtractResult(**{**facts, "package": target, "report": report, "flaws": tuple(facts["flaws"])})


def _report_name(target: Path, report: Path) -> str:
    """What a report of the extract is called beside the package."""
    return target.name + report.name.removeprefix(NOARK)


def delivery_folder(target: Path) -> Path:
    """Where the making of `target` is under way."""
    return target.parent / f".{target.name}.noarkit-delivery"

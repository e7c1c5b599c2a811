"""An archive becomes a package of any form: a Noark 5 extract first, which is then packed as it stands."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict
from pathlib import Path

from noarkit.archive.port import Archive
from noarkit.errors import UsageFault
from noarkit.events import Listener, nobody
from noarkit.extract.convert import NOARK, Wanted, convert
from noarkit.extract.run import Extracted, Terms, extract
from noarkit.safe.atomic import write_text


def deliver(archive: Archive, target: Path, wanted: Wanted, terms: Terms, *, tell: Listener = nobody) -> Extracted:
    """An extract beside its target, then the package that is made of it; a call that was killed goes on with either.

    Raises what `extract` and `convert` raise.
    """
    work = delivery_folder(target)
    if os.path.lexists(target) and not (work / "extracted.json").is_file():
        raise UsageFault(what="exists", where=str(target))
    held, known, named = work / NOARK, work / "extracted.json", work / "named"
    work.mkdir(parents=True, exist_ok=True)
    if known.is_file():
        told = json.loads(known.read_text("utf-8"))
    else:
        if held.exists():  # killed before it was told what it holds
            shutil.rmtree(held)
        extracted = extract(archive, held, terms, tell=tell)
        told = {**asdict(extracted), "package": "", "report": _beside(target, extracted.report)}
        write_text(known, json.dumps(told))
    if not named.is_file():
        convert(held, target, wanted, tell=tell)
        write_text(named, "")
    for report in work.glob(f"{NOARK}.*"):
        report.replace(target.parent / _beside(target, report))
    shutil.rmtree(work, ignore_errors=True)
    report = target.parent / str(told["report"])
    return Extracted(**{**told, "package": target, "report": report, "flaws": tuple(told["flaws"])})


def _beside(target: Path, report: Path) -> str:
    """What a report of the extract is called beside the package."""
    return target.name + report.name.removeprefix(NOARK)


def delivery_folder(target: Path) -> Path:
    """Where the making of `target` is under way."""
    return target.parent / f".{target.name}.noarkit-delivery"

"""Validates packages: detects the form of a package and checks every rule of that form, without changing anything."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from noarkit.errors import PackageFault
from noarkit.events import EventFields, Listener, ignore_event
from noarkit.forms.findings import Count, Level, Outcome, Place, Rule, ValidateResult
from noarkit.forms.package_form import DetectedForm, FormName, ValidateOptions
from noarkit.forms.recognition import detect_form, detect_form_as, remnant_fault
from noarkit.forms.registry import known_forms
from noarkit.safe.paths import require_existing
from noarkit.safe.remote_jobs import JobWorkers
from noarkit.safe.unpack import LIMITS, UnpackLimits

EVENTS: EventFields = {"validating": {"file": "text", "bytes": "count", "of": "count?"}}
__all__ = ["Count", "Level", "Outcome", "Place", "Rule", "ValidateResult", "validate"]


def validate(
    package: Path | str,
    *,
    schemas: Path | None = None,
    today: date | None = None,
    limits: UnpackLimits = LIMITS,
    form: FormName | None = None,
    job_workers: JobWorkers | None = None,
    detected: DetectedForm | None = None,
    listener: Listener = ignore_event,
) -> ValidateResult:
    """Validates the package in a folder or archive file by the rules of its form; returns the report.

    Options:
        schemas: a folder with the official schemas; without it our own are used.
        today: the day after which dates are findings; without it the day of the call.
        limits: the most bytes, members and nesting of an archive file.
        form: the form whose rules are applied, whatever else the package looks like.
        job_workers: the workers of a cluster, which read a Noark 5 extract in a folder; other packages are refused.
        detected: what a look at the package told, where somebody looked before.
        listener: is called with each event.

    Raises `SourceGone` where the path does not exist, `PackageFault` where there is no package of a known form, and
    `HostileInput` for what is refused as unsafe.
    """
    path = Path(package)
    require_existing(str(path))
    options = ValidateOptions(schemas, today, limits, listener, job_workers)
    try:
        detected = detected or (
            detect_form(path, limits, emit=listener)
            if form is None
            else detect_form_as(path, form, limits, emit=listener)
        )
    except PermissionError as error:
        raise PackageFault(where=str(package), why="unreadable") from error
    except OSError as error:
        raise PackageFault(where=str(package), why="no-package", folder=str(package)) from error
    package_form = known_forms().find(detected.form)
    if package_form is None and detected.meant:
        package_form = known_forms().form(detected.meant)
        if not package_form.judges_remnants:
            raise remnant_fault(str(path), detected)
    if package_form is None:
        raise PackageFault(where=str(path), why="no-package", folder=str(path))
    if not package_form.uses_job_workers:
        options.refuse_job_workers(path)
    result = package_form.validate(path, detected, options)
    if package_form.layout in ("folder", "representations"):
        from noarkit.forms.extract_inside import with_extract_inside

        return with_extract_inside(result, detected.root, options, twins=package_form.holds_twins)
    return result

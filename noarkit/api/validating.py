"""Validates a package by the rules of its form, on this machine or with the workers of a cluster."""

from __future__ import annotations

from contextlib import nullcontext
from datetime import date
from pathlib import Path

from noarkit.api.clustering import Cluster, cluster_jobs
from noarkit.events import Listener, ignore_event
from noarkit.forms import validation
from noarkit.forms.package_form import FormName
from noarkit.forms.validation import ValidateResult
from noarkit.safe.unpack import LIMITS, UnpackLimits
from noarkit.settings import Place


def validate(
    package: Place,
    *,
    schemas: Path | None = None,
    today: date | None = None,
    limits: UnpackLimits = LIMITS,
    form: FormName | None = None,
    cluster: Cluster | None = None,
    listener: Listener = ignore_event,
) -> ValidateResult:
    """Validates the package in a folder or archive file by the rules of its form; returns the report.

    Options:
        schemas: a folder with the official schemas; without it our own are used.
        today: the day after which dates are findings; without it the day of the call.
        limits: the most bytes, members and nesting of an archive file.
        form: the form whose rules are applied, whatever else the package looks like.
        cluster: machines that read the package too (`Cluster`): a Noark 5 extract in a folder. The report is the same.
        listener: is called with each event.

    Raises `SourceGone` where the path does not exist, `PackageFault` where there is no package of a known form, and
    `HostileInput` for what is refused as unsafe; `UsageFault` for a sealed bundle, which is verified by `receive`. With
    a `cluster` also `EngineAway`, `EngineTrust`, `NoWorkers`, `OtherVersion`, `OtherSource` and `JobLost`.
    """
    with nullcontext() if cluster is None else cluster_jobs(cluster) as workers:
        return validation.validate(
            package, schemas=schemas, today=today, limits=limits, form=form, job_workers=workers, listener=listener
        )

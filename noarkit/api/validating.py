"""Validates a package by the rules of its form, on this machine or with the workers of a cluster, and judges whether
it is ready for deposit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path

from noarkit.api.clustering import cluster_jobs
from noarkit.errors import UsageFault
from noarkit.events import Event, EventFields, Listener, ignore_event
from noarkit.extraction.accepted import accept_reasons, accepted_beside, follow_acceptances, places_by_reason
from noarkit.forms import validation
from noarkit.forms.package_form import FormName
from noarkit.forms.validation import ValidateResult
from noarkit.loading.options import Cluster
from noarkit.places import allow, recognise
from noarkit.reports.deliveries import judged_facts
from noarkit.safe.unpack import LIMITS, UnpackLimits
from noarkit.settings import Place
from noarkit.verdict import Acceptance, decide

EVENTS: EventFields = {"acceptances_followed": {"by": "text", "on": "text", "count": "count"}}


def validate(
    package: Place,
    *,
    schemas: Path | None = None,
    today: date | None = None,
    limits: UnpackLimits = LIMITS,
    form: FormName | None = None,
    cluster: Cluster | None = None,
    accept: Sequence[str] = (),
    by: str = "",
    note: str = "",
    listener: Listener = ignore_event,
) -> ValidateResult:
    """Validates the package in a folder or archive file by the rules of its form; returns the report, with a verdict
    where it is or holds a Noark 5 extract.

    Options:
        schemas: a folder with the official schemas; without it our own are used.
        today: the day after which dates are findings; without it the day of the call.
        limits: the most bytes, members and nesting of an archive file.
        form: the form whose rules are applied, whatever else the package looks like.
        cluster: machines that read the package too (`Cluster`): a Noark 5 extract in a folder. The report is the same.
        accept: reasons, by their codes, that a person accepts as they are; kept beside the package and counted from
            then on, for as many places as there are now.
        by: the name of that person.
        note: what was agreed, such as a case number of the depot.
        listener: is called with each event.

    Raises `SourceGone` where the path does not exist, `PackageFault` where there is no package of a known form, and
    `HostileInput` for what is refused as unsafe; `UsageFault` for a sealed bundle, which is verified by `receive`, and
    for a reason that cannot be accepted. With a `cluster` also `EngineAway`, `EngineTrust`, `NoWorkers`,
    `OtherVersion`, `OtherSource` and `JobLost`.
    """
    place = recognise(package, limits, source_kind=form, emit=listener)
    allow(place, "validate", form)
    with nullcontext() if cluster is None else cluster_jobs(cluster) as workers:
        result = validation.validate(
            package,
            schemas=schemas,
            today=today,
            limits=limits,
            form=form,
            job_workers=workers,
            detected=place.detected,
            listener=listener,
        )
    signature = Signature(by, note, today or datetime.now(UTC).date())
    return _judge(result, Path(package), accept, signature, listener)


@dataclass(frozen=True, slots=True)
class Signature:
    """Who accepts a reason, what was agreed, and when."""

    by: str
    note: str
    day: date


def _judge(
    result: ValidateResult, package: Path, accept: Sequence[str], signature: Signature, emit: Listener
) -> ValidateResult:
    """The result with its verdict, and with what a person accepts now, or accepted of it or of the one before it."""
    description_digest = result.description_sha256
    facts = judged_facts(result, package)
    if accept and (facts is None or not description_digest):
        raise UsageFault(what="accept-not-possible", where=f"--accept {accept[0]}")
    if facts is None:
        return result
    if accept and description_digest:
        accepted = accept_reasons(
            package,
            description_digest,
            decide(facts),
            accept,
            by=signature.by,
            day=signature.day.isoformat(),
            note=signature.note,
            places=places_by_reason(package, result.outcomes),
        )
    else:
        accepted = accepted_beside(package, description_digest) or _followed(result, package, emit)
    return replace(result, verdict=decide(facts, accepted))


def _followed(result: ValidateResult, package: Path, emit: Listener) -> tuple[Acceptance, ...]:
    """What was accepted of the package before, where it is the same here; told by whom and when."""
    if not result.description_sha256:
        return ()
    places = places_by_reason(package, result.outcomes)
    accepted = follow_acceptances(package, result.description_sha256, places)
    for (by, on), count in Counter((entry.by, entry.on) for entry in accepted).items():
        emit(Event("acceptances_followed", {"by": by, "on": on, "count": count}))
    return accepted

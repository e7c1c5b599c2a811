"""Estimates the load of a planned run, by what its archive is measured to be."""

from __future__ import annotations

from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

import orjson

from noarkit.api.destination import Destination, destination, open_target
from noarkit.api.origins import reopen_source, source_of
from noarkit.errors import NoarkitError, UsageFault
from noarkit.events import Event, Listener, ignore_event
from noarkit.graph.store import GraphStore
from noarkit.loading.engines.assembly import check_reachable, worker_count
from noarkit.loading.estimation.demand import demand_of
from noarkit.loading.estimation.earlier import earlier_measurement
from noarkit.loading.estimation.estimate import (
    Circumstances,
    EstimateResult,
    Prices,
    estimate_load,
    with_own_figures,
)
from noarkit.loading.estimation.figures import Measurement
from noarkit.loading.estimation.model import Setup
from noarkit.loading.estimation.probe import probe_archive
from noarkit.loading.folder import RunFolder
from noarkit.loading.governor import Rate, read_rate
from noarkit.records import Source, released
from noarkit.reports import write_plan_report
from noarkit.reports.plan_page import ESTIMATE
from noarkit.safe import atomic
from noarkit.safe.processors import usable_processors
from noarkit.service_names import is_connection_name
from noarkit.settings import Place, Settings, resolve_settings
from noarkit.wings import require_wing


def estimate(
    run: Place,
    *,
    source: Source | None = None,
    archive: str | None = None,
    workers: int | None = None,
    max_rate: str | None = None,
    probe: bool = True,
    settings: Settings | None = None,
    listener: Listener = ignore_event,
) -> EstimateResult:
    """Estimates how long the load of a planned run takes, what it needs, what limits it and what more workers bring.

    Where an archive is named it is measured first, with some 250 small requests that send nothing of the plan;
    without one, figures of the latest load beside the run are taken, or else those of the manual. `plan.html` shows the
    estimate from then on.

    Options:
        source: the source that was planned, where its reader has no registered name.
        archive: the address of the archive, or `embedded:DIR`; without it that of the run, or of the settings.
        workers: the number of workers of the load; without it as many as `ingest` would start.
        max_rate: the most calls or bytes a second (`20/s`, `5MB/s`).
        probe: measures the archive; `False` sends nothing.
        settings: what `read_settings` returns; without it `noarkit.toml` and the environment, as for a command.
        listener: is called with each event.

    Raises `JournalFault` where `run` is no run, `UsageFault`, and faults of the archive.
    """
    final_settings = resolve_settings(archive, settings)
    folder = RunFolder(Path(run))
    folder.plan()
    remembered = folder.remembered_archive()
    archive_place = destination(final_settings.config, final_settings.environment, remembered)
    is_named = remembered is not None or final_settings.config.archive.url is not None
    setup = _setup(folder, final_settings, read_rate(max_rate) if max_rate else Rate())
    if probe and is_named:
        measurement = _probe(folder, archive_place, listener)
    else:
        measurement = earlier_measurement(folder, archive_place.name if is_named else None, setup) or Measurement()
    measurement = _with_own_figures(measurement, folder, final_settings, source)
    config = final_settings.config.archive
    circumstances = Circumstances(
        archive=archive_place.name if is_named else None,
        workers=worker_count(workers),
        setup=setup,
        prices=Prices(config.price_per_thousand_calls, config.price_per_gb),
        source_has_credits=is_connection_name(source_of(folder).where),
    )
    demand = demand_of(
        folder,
        fresh=measurement.fresh,
        honours_versions=measurement.honours_versions,
        probed=measurement.writes and measurement.origin == "probe",
    )
    result = estimate_load(folder, demand, measurement, circumstances)
    _keep(result, final_settings)
    return result


def _probe(folder: RunFolder, archive_place: Destination, emit: Listener) -> Measurement:
    """Measures the archive; one of one's own that is not there yet is made for a moment, elsewhere."""
    with open_target(archive_place, rehearse=True) as target:
        emit(Event("target", {"archive": target.name, "account": target.account}))
        check_reachable(target, emit)
        return probe_archive(target.settings, _external_system(folder))


def _external_system(folder: RunFolder) -> str:
    with closing(GraphStore.open(folder.graph)) as graph:
        return graph.meta("external_system") or "noarkit"


def _with_own_figures(
    measurement: Measurement, folder: RunFolder, settings: Settings, source: Source | None
) -> Measurement:
    """Adds what this machine and the source take. A service is not read: each document would cost a call."""
    if is_connection_name(source_of(folder).where):
        return replace(measurement, figures=with_own_figures(measurement.figures, folder, None))
    try:
        with ExitStack() as stack:
            reopened = reopen_source(folder, settings, source)
            stack.enter_context(released(reopened))
            return replace(measurement, figures=with_own_figures(measurement.figures, folder, reopened.open))
    except NoarkitError as fault:
        if isinstance(fault, UsageFault):
            raise
        # a source that cannot be reached from here is told by the load; an estimate can do without it
        return replace(measurement, figures=with_own_figures(measurement.figures, folder, None))


def _setup(folder: RunFolder, settings: Settings, rate: Rate) -> Setup:
    """This machine's processors, and the limits of rate."""
    setup = Setup(usable_processors(), rate.calls_per_s, rate.bytes_per_s)
    where = source_of(folder).where
    if not is_connection_name(where):
        return setup
    require_wing("services")
    from noarkit.services.connections import read_connection

    connection = read_connection(where, settings.config, settings.environment)
    rates = connection.rates("rates") if connection is not None else ()
    return replace(setup, source_calls_per_s=min((rate.calls / rate.seconds for rate in rates), default=None))


def _keep(result: EstimateResult, settings: Settings) -> None:
    """Keeps the estimate in the run's folder, and shows it in plan.html."""
    folder = result.folder
    facts = {**result.to_dict(), "at": settings.now_s()}
    atomic.write_text(folder.path / ESTIMATE, orjson.dumps(facts, option=orjson.OPT_INDENT_2).decode() + "\n")
    write_plan_report(folder, settings.config.lang)

"""`noarkit doctor`: goes from the config to the archive step by step, and says of each whether it is well."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from noarkit.cli.night import Finding, night
from noarkit.cli.options import Session, command, option
from noarkit.cli.running import require_run
from noarkit.cli.show import size
from noarkit.config import Config
from noarkit.engine.assembly import remembered_archive
from noarkit.errors import NoarkitError, PlanFault, gravest
from noarkit.load.folder import RunFolder
from noarkit.words.texts import render

if TYPE_CHECKING:
    from noarkit.archive.port import Archive
    from noarkit.archive.settings import ArchiveSettings

EMBEDDED = "embedded:"
_LEAST_FREE_BYTES = 1_000_000_000
_MOST_SKEW_S = 60
_LEAST_DAYS = 30
_BUILT = datetime(2025, 1, 1, tzinfo=UTC)
PROBE_TITLE = "noarkit: probe (not part of any series)"
_PROBE_TYPE = "Klassifikasjonssystem"


@command("doctor", exits=(4, 5, 6, 8, 9, 10))
@option("--archive", metavar="URL", variable=None)
@option("--token-url", metavar="URL", variable=None)
@option("--client-id", metavar="NAME", variable=None)
@option("--probe", is_flag=True)
@option("--run", type=click.Path(file_okay=False, path_type=Path), metavar="RUN")
@option("--until", metavar="TIME")
def doctor_command(
    session: Session,
    *,
    archive: str | None,
    token_url: str | None,
    client_id: str | None,
    probe: bool,
    run: Path | None,
    until: str | None,
) -> int:
    """Prints a line a step, the faults in full, and ends with the gravest of them."""
    if run is not None:
        require_run(run)
    flags = {"archive.url": archive, "archive.token_url": token_url, "archive.client_id": client_id}
    codes = [0]
    for finding in examine(session, flags, probe=probe, run=run, until=until):
        _tell(session, finding)
        if finding.fault is not None:
            codes.append(finding.fault.exit_code)
    code = gravest(*codes)
    session.face.tell("doctor.bad" if code else "doctor.good")
    return code


def examine(
    session: Session,
    flags: Mapping[str, str | None],
    *,
    probe: bool,
    run: Path | None = None,
    until: str | None = None,
) -> Iterator[Finding]:
    """All steps, one after the other; what a fault makes senseless is left out."""
    try:
        config = session.config(flags)
    except NoarkitError as fault:
        yield Finding("config", "fault", fault=fault)
        return
    given = sum(1 for origin in config.origins.values() if origin.kind != "default")
    yield Finding("config", data={"count": len(config.files), "from": given} if given else {})
    yield _disk(Path.cwd())
    yield _clock(datetime.now(UTC))
    yield from night(session, config, run, until)
    if config.archive.url is None and run is not None:
        config = replace(config, archive=replace(config.archive, url=remembered_archive(RunFolder(run))))
    if config.archive.url is None:
        yield Finding("no-archive", "note")
        return
    try:
        yield from _archive(config, session.environment, probe=probe)
    except NoarkitError as fault:
        yield Finding("archive", "fault", fault=fault)


def _archive(config: Config, environment: Mapping[str, str], *, probe: bool) -> Iterator[Finding]:
    with _settings(config, environment) as settings:
        if str(config.archive.url).startswith(EMBEDDED):
            yield Finding("embedded", data={"where": str(config.archive.url).removeprefix(EMBEDDED)})
        else:
            yield from _network(config, settings)
        from noarkit.archive.http import connect

        with connect(settings) as archive:
            steps: list[tuple[str, Callable[[], Iterator[Finding]]]] = [
                ("token", lambda: _rights(archive, settings)),
                ("lists", lambda: _code_lists(archive)),
                ("probe", lambda: _probe(archive) if probe else iter([Finding("probe-asked", "skipped")])),
            ]
            for key, step in steps:
                try:
                    yield from step()
                except NoarkitError as fault:
                    yield Finding(key, "fault", fault=fault)
                    return


@contextmanager
def _settings(config: Config, environment: Mapping[str, str]) -> Iterator[ArchiveSettings]:
    """How the archive is reached; an embedded one runs for as long as it is asked."""
    from noarkit.archive.settings import ArchiveSettings, settings_of
    from noarkit.archive.token import Credentials

    url = str(config.archive.url)
    if not url.startswith(EMBEDDED):
        yield settings_of(config.archive, environment)
        return
    from noarkit.embedded import open_embedded

    with open_embedded(Path(url.removeprefix(EMBEDDED))) as embedded:
        credentials = Credentials(embedded.client_id, embedded.client_secret)
        yield ArchiveSettings(embedded.url, credentials, token_url=embedded.token_url)


def _disk(folder: Path) -> Finding:
    free = shutil.disk_usage(folder).free
    low = free < _LEAST_FREE_BYTES
    return Finding("disk-low" if low else "disk", "note" if low else "ok", {"free": size(free), "where": str(folder)})


def _clock(now: datetime) -> Finding:
    data = {"now": now.isoformat(timespec="seconds")}
    return Finding("clock", data=data) if now > _BUILT else Finding("clock-wrong", "note", data)


def _network(config: Config, settings: ArchiveSettings) -> Iterator[Finding]:
    from noarkit.archive.settings import addresses_of
    from noarkit.cli.line import Reached, reach
    from noarkit.safe.urls import goes_direct

    url = addresses_of(settings).service
    if config.archive.proxy and not goes_direct(url.host, config.archive.no_proxy):
        yield Finding("proxy", data={"proxy": config.archive.proxy})
        return  # what lies behind it is proven by the token
    yield Finding("no-proxy")
    host, port = url.host, url.port or (443 if url.scheme == "https" else 80)
    found: Reached = reach(host, port, settings.trust if url.scheme == "https" else None, settings.patience.connect_s)
    yield Finding("reach", data={"host": host, "port": port})
    if found.tls_version is None:
        yield Finding("plain")
    else:
        days = (found.certificate_ends - datetime.now(UTC)).days if found.certificate_ends else 0
        data = {"version": found.tls_version, "issuer": found.issuer, "days": days}
        soon = days < _LEAST_DAYS
        yield Finding("tls-soon" if soon else "tls", "note" if soon else "ok", data)
    if found.skew_s is not None and abs(found.skew_s) > _MOST_SKEW_S:
        yield Finding("clock-off", "note", {"seconds": round(found.skew_s)})


def _rights(archive: Archive, settings: ArchiveSettings) -> Iterator[Finding]:
    """No archive tells an account its own rights; asking for objects is the least that any work needs."""
    from noarkit.archive.query import select

    archive.query(select("Arkivdel", limit=1))
    yield Finding("token", data={"client": settings.credentials.client_id})
    yield Finding("rights")


def _code_lists(archive: Archive) -> Iterator[Finding]:
    from noarkit.archive.administration import Administration
    from noarkit.model import metamodel

    lists = Administration(archive).code_lists()
    types = metamodel().types
    empty = set()
    for each in lists:
        held = types[each.type].fields.get(each.field) if each.type in types else None
        if not each.values and held is not None and held.need == "must":
            empty.add(f"{each.type}.{each.field}")
    if empty:
        names = ", ".join(sorted(empty))
        yield Finding("lists-block", "fault", {"lists": names}, PlanFault(where=names, why="empty-code-lists"))
    else:
        yield Finding("lists", data={"count": len({each.field for each in lists})})


def _probe(archive: Archive) -> Iterator[Finding]:
    """Uploads a few bytes, writes into an object that belongs to nothing, the same each time, and asks for it."""
    import secrets

    from noarkit.archive.query import all_of, equals, select
    from noarkit.archive.values import Save, bytes_to_upload

    archive.upload(bytes_to_upload(b"noarkit: probe", "probe.txt"))  # linked to nothing, so the archive sweeps it
    known = archive.query(select(_PROBE_TYPE, equals("tittel", PROBE_TITLE))).objects
    target = known[0].id if known else "probe"
    written = secrets.token_hex(16)
    saved = archive.transaction([Save(_PROBE_TYPE, target, {"tittel": PROBE_TITLE, "beskrivelse": written})])[target]
    asked = all_of(equals("tittel", PROBE_TITLE), equals("beskrivelse", written))
    if [each.id for each in archive.query(select(_PROBE_TYPE, asked)).objects] == [saved.id]:
        yield Finding("probe", data={"title": PROBE_TITLE})
    else:
        yield Finding("probe-lost", "fault", fault=PlanFault(where=_PROBE_TYPE, why="not-found-again"))


def _tell(session: Session, finding: Finding) -> None:
    told = session.texts
    state = told.say(f"doctor.{finding.state}")
    if finding.fault is not None and not finding.data:
        sentence = render(finding.fault, told.lang)[0].partition("  ")[2]
    else:
        sentence = told.say(f"doctor.{finding.key}", **finding.data)
    code = f" {finding.fault.code}" if finding.fault is not None else ""
    line = f"{state + code:<10}  {sentence}"
    session.face.result("check", line, check=finding.key, state=finding.state, **finding.data)
    if finding.fault is not None:
        session.face.fault(finding.fault)

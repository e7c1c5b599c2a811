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

from noarkit.cli.console import size
from noarkit.cli.options import Session, command, option
from noarkit.cli.running import require_run
from noarkit.cli.unattended import CheckResult, unattended_checks
from noarkit.config import Config
from noarkit.errors import NoarkitError, PlanFault, gravest
from noarkit.events import EventFields
from noarkit.loading.folder import RunFolder
from noarkit.model.own_marks import PROBE_TITLE
from noarkit.wings import require_wing
from noarkit.words.texts import render

if TYPE_CHECKING:
    from noarkit.archive.port import Archive
    from noarkit.archive.settings import ArchiveSettings

_AMOUNTS = ("free_bytes", "needed_bytes", "size_bytes")  # beside the same as people say it
EVENTS: EventFields = {
    "check": {
        "check": "text",
        "state": ("ok", "note", "fault", "skipped"),
        **dict.fromkeys(("count", "from", "port", "hours", "minutes", "objects", *_AMOUNTS), "count?"),
        **dict.fromkeys(("days", "seconds"), "integer?"),
        **dict.fromkeys(("where", "path", "kind", "owner", "free", "needed", "size", "now", "ends"), "text?"),
        **dict.fromkeys(("host", "proxy", "version", "issuer", "client", "title", "right", "lists"), "text?"),
        **dict.fromkeys(("tool", "rules", "variable"), "text?"),
    }
}

EMBEDDED = "embedded:"
_NO_ARCHIVE = "no-archive"
_SIZES = ("free", "needed", "size")
"""Data of checks that are sizes, as JSON has them; each stands beside its number of bytes."""
_LEAST_FREE_BYTES = 1_000_000_000
_MOST_SKEW_S = 60
_LEAST_DAYS = 30
_BUILT = datetime(2025, 1, 1, tzinfo=UTC)
_PROBE_TYPE = "Klassifikasjonssystem"


@command("doctor", exits=(4, 5, 6, 8, 9, 10))
@option("--archive", metavar="URL", variable=None)
@option("--token-url", metavar="URL", variable=None)
@option("--client-id", metavar="NAME", variable=None)
@option("--probe", is_flag=True)
@option("--run", type=click.Path(file_okay=False, path_type=Path), metavar="RUN")
@option("--until", metavar="TIME")
@option("--copies", is_flag=True)
@option("--policy", metavar="FILE")
def doctor_command(
    session: Session,
    *,
    archive: str | None,
    token_url: str | None,
    client_id: str | None,
    probe: bool,
    run: Path | None,
    until: str | None,
    copies: bool,
    policy: str | None,
) -> int:
    """Prints a line a step, the faults in full, and ends with the gravest of them."""
    if copies:
        for check in _examine_copies(session, policy):
            _print_check(session, check)
        return 0
    if run is not None:
        require_run(run)
    flags = {"archive.url": archive, "archive.token_url": token_url, "archive.client_id": client_id}
    wrong: list[NoarkitError] = []
    is_complete = True
    for check in examine(session, flags, probe=probe, run=run, until=until):
        _print_check(session, check)
        if check.fault is not None:
            wrong.append(check.fault)
        is_complete = is_complete and check.key != _NO_ARCHIVE
    if wrong:
        session.console.notify("doctor.bad", count=len(wrong), code=wrong[0].code)
    else:
        session.console.notify("doctor.good" if is_complete else "doctor.without-archive")
    return gravest(0, *(fault.exit_code for fault in wrong))


def _examine_copies(session: Session, policy: str | None) -> Iterator[CheckResult]:
    """What archival copies need of this machine."""
    require_wing("copies")
    from noarkit.copies.examination import examine_tools
    from noarkit.copies.policy import read_policy
    from noarkit.copies.settings import copy_settings

    rules = read_policy(Path(policy) if policy is not None else None)
    for check in examine_tools(copy_settings(session.config()), rules):
        yield CheckResult(f"copies-{check.key}", check.state, check.data)


def examine(
    session: Session,
    flags: Mapping[str, str | None],
    *,
    probe: bool,
    run: Path | None = None,
    until: str | None = None,
) -> Iterator[CheckResult]:
    """All steps, one after the other; what a fault makes senseless is left out."""
    try:
        config = session.config(flags)
    except NoarkitError as fault:
        yield CheckResult("config", "fault", fault=fault)
        return
    set_count = sum(1 for origin in config.origins.values() if origin.kind != "default")
    yield CheckResult("config", data={"count": len(config.files), "from": set_count} if set_count else {})
    yield _check_disk(Path.cwd())
    yield _check_clock(datetime.now(UTC))
    yield _check_signatures()
    yield from unattended_checks(session, config, run, until)
    if config.archive.url is None and run is not None:
        config = replace(config, archive=replace(config.archive, url=RunFolder(run).remembered_archive()))
    if config.archive.url is None:
        yield CheckResult(_NO_ARCHIVE, "note")
        return
    try:
        yield from _archive(config, session.environment, probe=probe)
    except NoarkitError as fault:
        yield CheckResult("archive", "fault", fault=fault)


def _archive(config: Config, environment: Mapping[str, str], *, probe: bool) -> Iterator[CheckResult]:
    with _settings(config, environment) as settings:
        if str(config.archive.url).startswith(EMBEDDED):
            yield CheckResult("embedded", data={"where": str(config.archive.url).removeprefix(EMBEDDED)})
        else:
            yield from _check_network(config, settings)
        from noarkit.archive.http import connect

        with connect(settings) as archive:
            steps: list[tuple[str, Callable[[], Iterator[CheckResult]]]] = [
                ("token", lambda: _check_rights(archive, settings)),
                ("lists", lambda: _check_code_lists(archive)),
                ("probe", lambda: _check_probe(archive) if probe else iter([CheckResult("probe-asked", "skipped")])),
            ]
            for key, step in steps:
                try:
                    yield from step()
                except NoarkitError as fault:
                    yield CheckResult(key, "fault", fault=fault)
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


def _check_disk(folder: Path) -> CheckResult:
    free = shutil.disk_usage(folder).free
    low = free < _LEAST_FREE_BYTES
    return CheckResult(
        "disk-low" if low else "disk",
        "note" if low else "ok",
        {"free": size(free), "free_bytes": free, "where": str(folder)},
    )


def _check_clock(now: datetime) -> CheckResult:
    data = {"now": now.isoformat(timespec="seconds")}
    return CheckResult("clock", data=data) if now > _BUILT else CheckResult("clock-wrong", "note", data)


def _check_signatures() -> CheckResult:
    from noarkit.documents.detect import knows_few_types

    return CheckResult("signatures-few", "note") if knows_few_types() else CheckResult("signatures")


def _check_network(config: Config, settings: ArchiveSettings) -> Iterator[CheckResult]:
    from noarkit.archive.settings import addresses_of
    from noarkit.cli.connectivity import reach
    from noarkit.safe.urls import bypasses_proxy

    url = addresses_of(settings).service
    if config.archive.proxy and not bypasses_proxy(url.host, config.archive.no_proxy):
        yield CheckResult("proxy", data={"proxy": config.archive.proxy})
        return  # what lies behind it is proven by the token
    yield CheckResult("no-proxy")
    host, port = url.host, url.port or (443 if url.scheme == "https" else 80)
    peer = reach(host, port, settings.trust if url.scheme == "https" else None, settings.patience.connect_s)
    yield CheckResult("reach", data={"host": host, "port": port})
    if peer.tls_version is None:
        yield CheckResult("plain")
    else:
        days = (peer.certificate_ends - datetime.now(UTC)).days if peer.certificate_ends else 0
        data = {"version": peer.tls_version, "issuer": peer.issuer, "days": days}
        soon = days < _LEAST_DAYS
        yield CheckResult("tls-soon" if soon else "tls", "note" if soon else "ok", data)
    if peer.skew_s is not None and abs(peer.skew_s) > _MOST_SKEW_S:
        yield CheckResult("clock-off", "note", {"seconds": round(peer.skew_s)})


def _check_rights(archive: Archive, settings: ArchiveSettings) -> Iterator[CheckResult]:
    """No archive tells an account its own rights; asking for objects is the least that any work needs."""
    from noarkit.archive.query import select

    archive.query(select("Arkivdel", limit=1))
    yield CheckResult("token", data={"client": settings.credentials.client_id})
    yield CheckResult("rights")


def _check_code_lists(archive: Archive) -> Iterator[CheckResult]:
    from noarkit.archive.administration import Administration
    from noarkit.model import metamodel

    lists = Administration(archive).code_lists()
    types = metamodel().types
    empty = set()
    for code_list in lists:
        definition = types[code_list.type].fields.get(code_list.field) if code_list.type in types else None
        if not code_list.values and definition is not None and definition.need == "must":
            empty.add(f"{code_list.type}.{code_list.field}")
    if empty:
        names = ", ".join(sorted(empty))
        yield CheckResult("lists-block", "fault", {"lists": names}, PlanFault(where=names, why="empty-code-lists"))
    else:
        yield CheckResult("lists", data={"count": len({code_list.field for code_list in lists})})


def _check_probe(archive: Archive) -> Iterator[CheckResult]:
    """Uploads a few bytes, writes into an object that belongs to nothing, the same each time, and asks for it."""
    import secrets

    from noarkit.archive.query import all_of, equals, select
    from noarkit.archive.values import Save, bytes_to_upload

    archive.upload(bytes_to_upload(b"noarkit: probe", "probe.txt"))  # linked to nothing, so the archive sweeps it
    matches = archive.query(select(_PROBE_TYPE, equals("tittel", PROBE_TITLE))).objects
    target = matches[0].id if matches else "probe"
    marker = secrets.token_hex(16)
    saved_object = archive.transaction([Save(_PROBE_TYPE, target, {"tittel": PROBE_TITLE, "beskrivelse": marker})])[
        target
    ]
    condition = all_of(equals("tittel", PROBE_TITLE), equals("beskrivelse", marker))
    if [item.id for item in archive.query(select(_PROBE_TYPE, condition)).objects] == [saved_object.id]:
        yield CheckResult("probe", data={"title": PROBE_TITLE})
        yield _check_finalised(archive)
    else:
        yield CheckResult("probe-lost", "fault", fault=PlanFault(where=_PROBE_TYPE, why="not-found-again"))


def _check_finalised(archive: Archive) -> CheckResult:
    """Whether copies may be added to documents that are finalised."""
    from noarkit.loading.closed_material import RIGHT, may_change_finalised

    may = may_change_finalised(archive)
    return CheckResult("finalised" if may else "finalised-not", "ok" if may else "note", {"right": RIGHT})


def _print_check(session: Session, check: CheckResult) -> None:
    texts = session.texts
    state = texts.say(f"doctor.{check.state}")
    if check.fault is not None and not check.data:
        sentence = render(check.fault, texts.lang)[0].partition("  ")[2]
    else:
        numbers = {name: check.data.get(f"{name}_bytes") for name in _SIZES}
        sizes = {name: texts.size(number) for name, number in numbers.items() if isinstance(number, int)}
        sentence = texts.say(f"doctor.{check.key}", **{**check.data, **sizes})
    code = f" {check.fault.code}" if check.fault is not None else ""
    line = f"{state + code:<10}  {sentence}"
    session.console.result("check", line, check=check.key, state=check.state, **check.data)
    if check.fault is not None:
        session.console.fault(check.fault)

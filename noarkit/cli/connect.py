"""`noarkit connect`: tries a connection and lists what can be read; gives, shows and forgets consent."""

from __future__ import annotations

import json
import sys
import webbrowser
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

import click

from noarkit.catalogue.moments import spoken
from noarkit.cli.configuring import configure
from noarkit.cli.console import to_json
from noarkit.cli.form_choices import REPORT_FORMATS
from noarkit.cli.next_command import next_command
from noarkit.cli.options import Session, command, option
from noarkit.cli.progress import wait_words
from noarkit.errors import ConsentNeeded, UsageFault
from noarkit.events import EventFields
from noarkit.loading.next_step import propose_run
from noarkit.service_names import service_names
from noarkit.wings import has_wing
from noarkit.words.texts import Texts, plain

if TYPE_CHECKING:
    from noarkit.services.access.grant_store import GrantStore
    from noarkit.services.settings import Connection
    from noarkit.services.waiting import Wait

EVENTS: EventFields = {
    "connected": {"connection": "text", "tenant": "text", "account": "text"},
    "consented": {"connection": "text"},
    "forgotten": {"connection": "text", "path": "text?"},
    "grant": {"connection": "text", "ends": "text"},
    "tool": {"connection": "text", "server": "text", "tool": "text", "kind": "text", "may": "flag"},
    "tool_result": {"connection": "text", "tool": "text", "result": "any?"},
}

_WIDTH = 76
_JSON_WANTED = {"fix": "--arguments", "own": "json", "example": '{"name": "value"}'}


@command("connect", exits=(2, 4, 5, 6, 11), wing="services")
@click.argument("name", metavar="SERVICE:NAME")
@click.argument("words", metavar="[VERB]...", nargs=-1)
@option("--paste", is_flag=True)
@option("--wait", type=click.FloatRange(1, 3_600), default=300.0, metavar="SECONDS")
@option("--mcp", is_flag=True)
@option("--marks", is_flag=True)
@option("--call", "tool", metavar="TOOL", default="")
@option("--arguments", metavar="JSON", default="")
@option("--set", "settings", multiple=True, metavar="KEY=VALUE")
@option("--report-format", type=REPORT_FORMATS)
@option("--output", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE")
def connect_command(
    session: Session,
    *,
    name: str,
    words: tuple[str, ...],
    paste: bool,
    wait: float,
    mcp: bool,
    marks: bool,
    tool: str,
    arguments: str,
    settings: tuple[str, ...],
    report_format: str | None,
    output: Path | None,
) -> None:
    """Without a verb: who we are there, and what can be read; with --mcp, its tools; else what the service is asked."""
    from noarkit.services.commands import OWN_VERBS
    from noarkit.services.connections import read_connection
    from noarkit.services.overrides import apply_overrides, read_overrides

    verb = words[0] if words else "try"
    is_own_command = verb not in OWN_VERBS or len(words) > 1
    if marks and (verb != "forget" or mcp):
        raise UsageFault(what="bad-value", where="--marks", do=next_command("connect", name, "forget", "--marks"))
    if (tool and not mcp) or (arguments and not tool and not is_own_command) or (mcp and is_own_command):
        raise UsageFault(what="bad-value", where=name, **_tool_fix(tool, mcp=mcp, is_own_command=is_own_command))
    shape, overrides = _output_options(words, report_format, output), read_overrides(settings)
    if verb == "configure" and not is_own_command:
        configure(session, name, overrides)
        return
    connection = read_connection(name, session.config(), session.environment, must_be=not overrides)
    if connection is None:
        raise UsageFault(what="bad-value", where=name, gone=name, fix="", own="connection")
    connection = replace(apply_overrides(connection, overrides), on_wait=partial(_tell_wait, session))
    if is_own_command:
        _run_command(session, connection, words, {**_parse_object(arguments), **shape})
    elif verb == "login":
        _run_login(session, connection, paste, wait, mcp=mcp)
    elif verb == "status":
        _status(session, connection, mcp=mcp)
    elif verb == "forget" and marks:
        _forget_marks(session, connection)
    elif verb == "forget":
        _forget(session, connection, mcp=mcp)
    elif mcp:
        try:
            _run_tools(session, connection, tool, arguments)
        except ConsentNeeded:
            if not (paste or sys.stderr.isatty()):
                raise
            _run_login(session, connection, paste, wait, mcp=True)  # the first use is what asks a person
            _run_tools(session, connection, tool, arguments)
    else:
        _introduce(session, connection)


def _tell_wait(session: Session, wait: Wait) -> None:
    from noarkit.services.waiting import wait_event

    event = wait_event(wait)
    session.console.on_event(event)
    session.console.notify(f"progress.service-{wait.why}", **wait_words(event.data))


def _introduce(session: Session, connection: Connection) -> None:
    from noarkit.services.connections import open_service

    with closing(open_service(connection)) as service:
        who = service.introduce()
        line = session.texts.say("connect.known", where=connection.full_name, account=who.account, tenant=who.tenant)
        session.console.result(
            "connected", line, connection=connection.full_name, tenant=who.tenant, account=who.account
        )
        for remark in who.remarks:
            text = session.texts.say(f"connect.remark.{remark.word}", **remark.data)
            session.console.notify("connect.remark", text=text)
        for stream in service.streams():
            stream_line = session.texts.say("connect.stream", name=stream.name)
            session.console.result("stream", stream_line, connection=connection.full_name, stream=stream.name)
        name = connection.full_name
        command = next_command("plan", name, "-o", propose_run(name))
        session.console.notify("connect.next", command=command)


def _run_tools(session: Session, connection: Connection, tool: str, arguments: str) -> None:
    from noarkit.services.mcp.connection_tools import open_tools

    with open_tools(connection) as tools:
        if tool:
            result = tools.call(tool, _parse_object(arguments))
            session.console.result(
                "tool_result", _format_json(result), connection=connection.full_name, tool=tool, result=result
            )
            return
        for entry in tools.list_tools():
            permission = session.texts.say(f"connect.tool.{'may' if entry.is_allowed else entry.judgement}")
            line = session.texts.say("connect.tool", name=plain(entry.name), may=permission, told=entry.description)
            session.console.result(
                "tool",
                line,
                connection=connection.full_name,
                server=entry.server.label,
                tool=entry.name,
                kind=entry.judgement,
                may=entry.is_allowed,
            )
        session.console.notify(
            "connect.tool.next", command=next_command("connect", connection.full_name, "--mcp", "--call")
        )


def _run_command(
    session: Session, connection: Connection, words: tuple[str, ...], arguments: Mapping[str, object]
) -> None:
    """In the service's own words: `gates list`."""
    from noarkit.services.connections import run_service_command

    command_name = " ".join(words[:2])
    try:
        for result in run_service_command(connection, words, arguments):
            session.console.result(
                "tool_result", _format_json(result), connection=connection.full_name, tool=command_name, result=result
            )
    except UsageFault as fault:
        usage = str(fault.data.get("do") or "").replace(f"{connection.service}:NAME", connection.full_name)
        raise type(fault)(**{**fault.data, "do": usage or None}) from fault


def _verbs_help(texts: Texts, line: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """The verbs of the service that the line names; where to find them, where it names none."""
    names = service_names()
    service = next((word.partition(":")[0] for word in line if word.partition(":")[0] in names), None)
    if service is None or not has_wing("services"):
        yield texts.say("connect.verbs"), [f"noarkit connect {name} --help" for name in names]
        return
    from noarkit.services.registry import verbs_of

    resources: dict[str, list[str]] = {}
    for resource, verb in verbs_of(service):
        resources.setdefault(resource, []).append(verb.usage)
    same_verbs: dict[tuple[str, ...], list[str]] = {}
    for resource, usages in resources.items():
        same_verbs.setdefault(tuple(usages), []).append(resource)
    lines = [f"{', '.join(names)}: {'; '.join(usages)}" for usages, names in same_verbs.items()]
    yield (
        texts.say("connect.verbs-of", service=service),
        [part for entry in lines for part in wrap(entry, _WIDTH, subsequent_indent="  ")],
    )


connect_command.more_help = _verbs_help


def _output_options(words: tuple[str, ...], report_format: str | None, output: Path | None) -> dict[str, object]:
    """In which form results are shown, and where. Raises `UsageFault` for anything else that is asked for."""
    from noarkit.services.registry import verbs_with_formats

    options: dict[str, object] = {"report_format": report_format} if report_format else {}
    options |= {"output": str(output)} if output else {}
    verbs = list(verbs_with_formats()) if options else []
    if options and words[:2] not in [(resource, verb.name) for _, resource, verb in verbs]:
        raise UsageFault(what="bad-value", where=" ".join(words), fix="", drop="--report-format --output")
    return options


def _tool_fix(tool: str, *, mcp: bool, is_own_command: bool) -> dict[str, str]:
    """What makes the options go together that call a tool."""
    if mcp and is_own_command:
        return {"fix": "", "drop": "--mcp"}
    return {"fix": "--mcp"} if tool else {"fix": "--call", "own": "tool"}


def _parse_object(text: str) -> dict[str, object]:
    try:
        value = json.loads(text or "{}")
    except ValueError as error:
        raise UsageFault(what="arguments-not-json", where="--arguments", **_JSON_WANTED) from error
    if not isinstance(value, dict):
        raise UsageFault(what="not-a-json-object", where="--arguments", **_JSON_WANTED)
    return value


def _format_json(value: object) -> str:
    """JSON for a person's terminal, which no sign in it can steer."""
    text = to_json(value, indent=2, ascii_only=False)
    return "".join(sign if sign.isprintable() or sign == "\n" else f"\\u{ord(sign):04x}" for sign in text)


def _run_login(session: Session, connection: Connection, paste: bool, wait_s: float, *, mcp: bool) -> None:
    from noarkit.services.access.consent import code_of, wait_for_code
    from noarkit.services.connections import open_login
    from noarkit.services.mcp.connection_tools import open_tools_login

    login = (open_tools_login(connection) if mcp else None) or open_login(connection)
    with closing(login):
        consent = login.begin()
        if paste:
            _show_address(session, consent.url)
            code = code_of(_read_pasted_code(session), consent)
        else:
            code = wait_for_code(consent, wait_s, partial(_show_address, session, consent.url, opens=True))
        login.finish(consent, code)
    session.console.result(
        "consented", session.texts.say("connect.consented", where=connection.full_name), connection=connection.full_name
    )


def _show_address(session: Session, url: str, *, opens: bool = False) -> None:
    """Shows the address to visit on a person's terminal alone: it is no result, and no log hears of it."""
    print(session.texts.say("connect.visit", url=url), file=sys.stderr, flush=True)
    if opens and sys.stderr.isatty():
        webbrowser.open(url)


def _read_pasted_code(session: Session) -> str:
    if sys.stdin.isatty():
        print(session.texts.say("connect.paste"), file=sys.stderr, flush=True)
    return sys.stdin.readline()


def _status(session: Session, connection: Connection, *, mcp: bool) -> None:
    grant = _grant_store(connection, mcp).read()
    if grant is None:
        session.console.result(
            "grant",
            session.texts.say("connect.no-grant", where=connection.full_name),
            connection=connection.full_name,
            ends="",
        )
        return
    ends = datetime.fromtimestamp(grant.ends_at_s, UTC)
    key = "connect.grant-renews" if grant.refresh_token else "connect.grant"
    line = session.texts.say(key, where=connection.full_name, ends=spoken(ends.isoformat(), session.config().zone))
    session.console.result("grant", line, connection=connection.full_name, ends=ends.isoformat(timespec="seconds"))


def _grant_store(connection: Connection, mcp: bool) -> GrantStore:
    from noarkit.services.access.authorization import grant_store_of
    from noarkit.services.mcp.connection_tools import tools_grant_store

    return tools_grant_store(connection) if mcp else grant_store_of(connection)


def _forget_marks(session: Session, connection: Connection) -> None:
    from noarkit.services.source.run_watermarks import forget_watermarks

    paths, name = forget_watermarks(connection), connection.full_name
    for path in paths:
        session.console.result(
            "forgotten", session.texts.say("connect.marks-forgotten", path=path), connection=name, path=str(path)
        )
    if not paths:
        session.console.notify("connect.no-marks", where=name)


def _forget(session: Session, connection: Connection, *, mcp: bool) -> None:
    keep = _grant_store(connection, mcp)
    with keep.locked():
        was = keep.forget()
    key = "connect.forgotten" if was else "connect.no-grant"
    session.console.result(
        "forgotten", session.texts.say(key, where=connection.full_name), connection=connection.full_name
    )

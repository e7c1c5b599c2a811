"""`noarkit connect`: tries a connection and lists what can be read; gives, shows and forgets consent."""

from __future__ import annotations

import json
import sys
import webbrowser
from collections.abc import Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import click

from noarkit.cli.configuring import configure
from noarkit.cli.options import Session, command, option
from noarkit.cli.show import to_json
from noarkit.connectors.access.authorization import grant_store_of
from noarkit.connectors.access.consent import code_of, wait_for_code
from noarkit.connectors.access.grant_store import GrantStore
from noarkit.connectors.mcp.connection_tools import open_tools, open_tools_login, tools_grant_store
from noarkit.connectors.overrides import apply_overrides, read_overrides
from noarkit.connectors.settings import Connection, read_connection
from noarkit.errors import ConsentNeeded, UsageFault
from noarkit.sources.connector.services import carry_out, open_login, open_service
from noarkit.words.texts import plain

_VERBS = ("try", "login", "status", "forget", "configure")
_FORMATS = ("json", "sarif")


@command("connect", exits=(2, 4, 5, 6, 11))
@click.argument("name", metavar="SERVICE:NAME")
@click.argument("words", metavar="[VERB]...", nargs=-1)
@option("--paste", is_flag=True)
@option("--wait", type=click.FloatRange(1, 3_600), default=300.0, metavar="SECONDS")
@option("--mcp", is_flag=True)
@option("--call", "tool", metavar="TOOL", default="")
@option("--arguments", metavar="JSON", default="")
@option("--set", "settings", multiple=True, metavar="KEY=VALUE")
@option("--report-format", type=click.Choice(_FORMATS))
@option("--output", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE")
def connect_command(
    session: Session,
    *,
    name: str,
    words: tuple[str, ...],
    paste: bool,
    wait: float,
    mcp: bool,
    tool: str,
    arguments: str,
    settings: tuple[str, ...],
    report_format: str | None,
    output: Path | None,
) -> None:
    """Without a verb: who we are there, and what can be read; with --mcp, its tools; else what the service is asked."""
    verb = words[0] if words else "try"
    own = verb not in _VERBS or len(words) > 1
    if (tool and not mcp) or (arguments and not tool and not own) or (mcp and own):
        raise UsageFault(what="bad-value", where=name, do="noarkit connect crm:NAME --mcp --call TOOL --arguments JSON")
    shape, given = _shape(words, report_format, output), read_overrides(settings)
    if verb == "configure" and not own:
        configure(session, name, given)
        return
    to = read_connection(name, session.config(), session.environment, must_be=not given)
    if to is None:
        raise UsageFault(what="bad-value", where=name, do="noarkit connect crm:NAME")
    to = apply_overrides(to, given)
    if own:
        _carry_out(session, to, words, {**_members(arguments), **shape})
    elif verb == "login":
        _login(session, to, paste, wait, mcp=mcp)
    elif verb == "status":
        _status(session, to, mcp=mcp)
    elif verb == "forget":
        _forget(session, to, mcp=mcp)
    elif mcp:
        try:
            _mcp(session, to, tool, arguments)
        except ConsentNeeded:
            if not (paste or sys.stderr.isatty()):
                raise
            _login(session, to, paste, wait, mcp=True)  # the first use is what asks a person
            _mcp(session, to, tool, arguments)
    else:
        _try(session, to)


def _try(session: Session, to: Connection) -> None:
    with closing(open_service(to)) as service:
        who = service.introduce()
        line = session.texts.say("connect.known", where=to.full_name, account=who.account, tenant=who.tenant)
        session.face.result("connected", line, connection=to.full_name, tenant=who.tenant, account=who.account)
        for remark in who.remarks:
            text = session.texts.say(f"connect.remark.{remark.word}", **remark.data)
            session.face.tell("connect.remark", text=text)
        for stream in service.streams():
            shown = session.texts.say("connect.stream", name=stream.name)
            session.face.result("stream", shown, connection=to.full_name, stream=stream.name)
        session.face.tell("connect.next", where=to.full_name)


def _mcp(session: Session, to: Connection, tool: str, arguments: str) -> None:
    with open_tools(to) as tools:
        if tool:
            found = tools.call(tool, _members(arguments))
            session.face.result("tool_result", _shown(found), connection=to.full_name, tool=tool, result=found)
            return
        for one in tools.list_tools():
            may = session.texts.say(f"connect.tool.{'may' if one.is_allowed else one.judgement}")
            line = session.texts.say("connect.tool", name=plain(one.name), may=may, told=one.description)
            session.face.result(
                "tool",
                line,
                connection=to.full_name,
                server=one.server.label,
                tool=one.name,
                kind=one.judgement,
                may=one.is_allowed,
            )
        session.face.tell("connect.tool.next", where=to.full_name)


def _carry_out(session: Session, to: Connection, words: tuple[str, ...], told: Mapping[str, object]) -> None:
    """In the service's own words: `gates list`."""
    asked = " ".join(words[:2])
    for found in carry_out(to, words, told):
        session.face.result("tool_result", _shown(found), connection=to.full_name, tool=asked, result=found)


def _shape(words: tuple[str, ...], report_format: str | None, output: Path | None) -> dict[str, object]:
    """In which form results are shown, and where. Raises `UsageFault` for anything else that is asked for."""
    found: dict[str, object] = {"report_format": report_format} if report_format else {}
    found |= {"output": str(output)} if output else {}
    if found and words[:2] != ("results", "show"):
        raise UsageFault(what="bad-value", where=" ".join(words), do="noarkit connect appsec:NAME results show SCAN")
    return found


def _members(text: str) -> dict[str, object]:
    try:
        found = json.loads(text or "{}")
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise UsageFault(what="not-an-object", where="--arguments", do='--arguments \'{"name": "value"}\'')
    return found


def _shown(value: object) -> str:
    """JSON for a person's terminal, which no sign in it can steer."""
    told = to_json(value, indent=2, ascii_only=False)
    return "".join(sign if sign.isprintable() or sign == "\n" else f"\\u{ord(sign):04x}" for sign in told)


def _login(session: Session, to: Connection, paste: bool, wait_s: float, *, mcp: bool) -> None:
    login = (open_tools_login(to) if mcp else None) or open_login(to)
    with closing(login):
        consent = login.begin()
        # the address goes to a person's terminal alone: it is no result, and no log hears of it
        print(session.texts.say("connect.visit", url=consent.url), file=sys.stderr, flush=True)
        if paste:
            code = code_of(_pasted(session), consent)
        else:
            if sys.stderr.isatty():
                webbrowser.open(consent.url)
            code = wait_for_code(consent, wait_s)
        login.finish(consent, code)
    session.face.result(
        "consented", session.texts.say("connect.consented", where=to.full_name), connection=to.full_name
    )


def _pasted(session: Session) -> str:
    if sys.stdin.isatty():
        print(session.texts.say("connect.paste"), file=sys.stderr, flush=True)
    return sys.stdin.readline()


def _status(session: Session, to: Connection, *, mcp: bool) -> None:
    kept = _keep(to, mcp).read()
    if kept is None:
        session.face.result(
            "grant", session.texts.say("connect.no-grant", where=to.full_name), connection=to.full_name, ends=""
        )
        return
    ends = datetime.fromtimestamp(kept.ends_at_s, UTC)
    key = "connect.grant-renews" if kept.refresh_token else "connect.grant"
    line = session.texts.say(key, where=to.full_name, ends=ends.astimezone().strftime("%Y-%m-%d %H:%M"))
    session.face.result("grant", line, connection=to.full_name, ends=ends.isoformat(timespec="seconds"))


def _keep(to: Connection, mcp: bool) -> GrantStore:
    return tools_grant_store(to) if mcp else grant_store_of(to)


def _forget(session: Session, to: Connection, *, mcp: bool) -> None:
    keep = _keep(to, mcp)
    with keep.locked():
        was = keep.forget()
    key = "connect.forgotten" if was else "connect.no-grant"
    session.face.result("forgotten", session.texts.say(key, where=to.full_name), connection=to.full_name)

"""`noarkit mcp`: offers a few tools to an assistant, over standard input and output or over HTTP."""

from __future__ import annotations

import ipaddress
from pathlib import Path

import click

from noarkit.cli.options import Session, command, option
from noarkit.cli.running import settings
from noarkit.errors import UsageFault
from noarkit.events import EventFields
from noarkit.secrets import SecretSource
from noarkit.wings import extra_command

EVENTS: EventFields = {"offered": {"url": "text"}}
_DIR = click.Path(exists=True, file_okay=False, path_type=Path)


@command("mcp")
@option("--root", "roots", type=_DIR, multiple=True, required=True, metavar="DIR")
@option("--allow-plan", is_flag=True)
@option("--port", type=click.IntRange(0, 65535), metavar="N")
@option("--host", default="127.0.0.1", metavar="ADDRESS")
@option("--token-file", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE")
def mcp_command(
    session: Session, *, roots: tuple[Path, ...], allow_plan: bool, port: int | None, host: str, token_file: Path | None
) -> None:
    """Serves until standard input ends, or a signal comes."""
    if port is None and session.console.as_json:
        raise UsageFault(what="stdio-taken", where="--json", fix="--port 8765")
    if port is not None and token_file is None and not _is_loopback(host):
        raise UsageFault(what="open-to-others", where=f"--host {host}", fix="--token-file", own="file")
    try:
        from noarkit.assistant.server import over_http, over_stdio, server
        from noarkit.assistant.toolset import Tools
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("mcp", "anyio"):
            raise
        raise UsageFault(what="no-mcp", where="noarkit mcp", do=extra_command("mcp")) from error
    mcp_server = server(Tools([root.resolve() for root in roots], settings(session, None)), may_plan=allow_plan)
    if port is None:
        session.console.notify("mcp.stdio")
        over_stdio(mcp_server)
        return
    token = SecretSource("file", (str(token_file),)).read(session.environment) if token_file is not None else None

    def announce(url: str) -> None:
        session.console.result("offered", session.texts.say("mcp.address", url=url), url=url)
        session.console.notify("serve.stop")

    over_http(mcp_server, host, port, token, announce)


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False

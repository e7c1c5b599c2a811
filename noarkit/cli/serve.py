"""`noarkit serve`: runs the embedded archive until a signal ends it."""

from __future__ import annotations

import ipaddress
from pathlib import Path

import click

from noarkit.cli.options import Session, command, option
from noarkit.errors import UsageFault

DEFAULT_DATA = "noarkit-archive"
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@command("serve", exits=(4, 9, 10))
@option("--data", type=click.Path(file_okay=False, path_type=Path), default=DEFAULT_DATA, metavar="DIR")
@option("--host", default="127.0.0.1", metavar="ADDRESS")
@option("--port", type=click.IntRange(0, 65535), default=8083, metavar="N")
@option("--tls-cert", type=_FILE, metavar="FILE")
@option("--tls-key", type=_FILE, metavar="FILE")
@option("--tls-client-ca", type=_FILE, metavar="FILE")
@option("--faults", type=_FILE, metavar="FILE")
@option("--i-am-testing", is_flag=True)
def serve_command(
    session: Session,
    *,
    data: Path,
    host: str,
    port: int,
    tls_cert: Path | None,
    tls_key: Path | None,
    tls_client_ca: Path | None,
    faults: Path | None,
    i_am_testing: bool,
) -> None:
    """Serves the archive of a folder."""
    from noarkit.server.run import Address, ServingInfo, serve

    if faults is not None and not i_am_testing:
        raise UsageFault(what="not-testing", where="--faults", do="--i-am-testing")
    console = session.console

    def announce(ready: ServingInfo) -> None:
        line = session.texts.say("serve.address", url=ready.url)
        console.result("serving", line, url=ready.url, token_url=ready.token_url, clients=str(ready.clients))
        console.notify("serve.token", url=ready.token_url)
        console.notify("serve.clients", path=ready.clients)
        if faults is not None:
            console.notify("serve.faults", path=faults)
        if tls_cert is None and not _is_this_machine(host):
            console.notify("serve.open")
        console.notify("serve.stop")

    serve(data, Address(host, port, tls_cert, tls_key, tls_client_ca), faults=faults, ready=announce)
    console.notify("serve.stopped")


def _is_this_machine(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False

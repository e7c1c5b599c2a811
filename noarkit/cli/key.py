"""`noarkit key new|show|cluster`: keys that seal what crosses an air gap, and the certificates of a cluster."""

from __future__ import annotations

import socket
from datetime import UTC, datetime, timedelta
from pathlib import Path
from shlex import quote

import click

from noarkit.api import keys
from noarkit.cli.options import FILE, Session, command, option
from noarkit.cli.running import settings
from noarkit.errors import UsageFault
from noarkit.events import EventFields
from noarkit.loading.next_step import SEAL_KEY, free_name
from noarkit.safe.atomic import write_bytes
from noarkit.safe.signing import PublicKey, new_key_pair, read_public
from noarkit.wings import require_wing

EVENTS: EventFields = {
    "key": {"path": "text", "public": "text?", "fingerprint": "text"},
    "cluster_key": {"folder": "text", "files": "list", "hosts": "list", "until": "text"},
}

_PRIVATE = b"PRIVATE KEY-----"
_LOOKED_AT = 64 * 1024
_PLACE = click.Path(path_type=Path)
DAYS = 825


@command("key", exits=(10,))
@click.argument("action", type=click.Choice(("new", "show", "cluster")))
@click.argument("file", metavar="[FILE|DIR]", type=_PLACE, required=False)
@option("-o", "--output", type=FILE, metavar="FILE")
@option("--host", metavar="NAME", multiple=True)
@option("--days", type=click.IntRange(1, 7300), default=DAYS, metavar="N")
def key_command(
    session: Session, action: str, file: Path | None, *, output: Path | None, host: tuple[str, ...], days: int
) -> None:
    """Makes a pair of files that are not there yet, tells whose key a file holds, or makes a cluster's certificates."""
    if action == "cluster":
        if file is None or output is not None:
            own = "folder" if file is None else None
            raise UsageFault(what="missing-argument", where="noarkit key cluster", fix="", drop="-o", own=own)
        _make_cluster(session, file, host, days)
        return
    if host:
        raise UsageFault(what="bad-value", where="--host", fix="cluster", wrong=action)
    if action == "new":
        if output is None or file is not None:
            name = quote(str(output or file or free_name(Path(SEAL_KEY))))
            gone = None if file is None else str(file)
            raise UsageFault(what="missing-argument", where="noarkit key new", fix=f"-o {name}", gone=gone)
        _new(session, output)
        return
    if file is None:
        raise UsageFault(what="missing-argument", where="noarkit key show", fix="", own="file")
    _show(session, file)


def _new(session: Session, path: Path) -> None:
    private, public = new_key_pair()
    beside = path.with_name(f"{path.name}.pub")
    if not path.absolute().parent.is_dir():
        raise UsageFault(what="not-there", where=str(path.parent))
    if beside.exists():
        raise UsageFault(what="exists", where=str(beside))
    write_bytes(path, private, mode=0o600, replace=False)
    try:
        write_bytes(beside, public, replace=False)
    except BaseException:
        path.unlink()  # a pair is made whole or not at all
        raise
    fingerprint = read_public(public, str(beside)).fingerprint
    lines = [
        session.texts.say("key.made", path=path),
        session.texts.say("key.public", path=beside),
        session.texts.say("key.fingerprint", fingerprint=fingerprint),
    ]
    session.console.result("key", "\n".join(lines), path=str(path), public=str(beside), fingerprint=fingerprint)


def _make_cluster(session: Session, folder: Path, hosts: tuple[str, ...], days: int) -> None:
    require_wing("cluster")
    from noarkit.loading.engines.cluster.tls import write_certificates

    names = hosts or (socket.gethostname(), "localhost", "127.0.0.1")
    now = datetime.now(UTC)
    paths = write_certificates(folder, names, now, days)
    until = (now + timedelta(days=days)).date().isoformat()
    lines = [
        session.texts.say("key.cluster", folder=folder, names=", ".join(names), until=until),
        session.texts.say("key.cluster-authority", path=folder / "ca.key"),
        session.texts.say("key.cluster-copy", folder=folder),
    ]
    files = [path.name for path in paths]
    data = {"folder": str(folder), "files": files, "hosts": list(names), "until": until}
    session.console.result("cluster_key", "\n".join(lines), **data)


def _show(session: Session, path: Path) -> None:
    key = _public_of(session, path)
    line = session.texts.say("key.fingerprint", fingerprint=key.fingerprint)
    session.console.result("key", line, path=str(path), public=None, fingerprint=key.fingerprint)


def _public_of(session: Session, path: Path) -> PublicKey:
    """The public half of whatever key a file holds."""
    try:
        with path.open("rb") as file:
            private = _PRIVATE in file.read(_LOOKED_AT)
    except OSError:
        private = False  # whoever reads it says why it cannot be read
    return keys.signer(settings(session, None), path).public if private else keys.public_key(path)

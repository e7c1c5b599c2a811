"""`noarkit key new|show`: makes a key pair that seals what crosses an air gap, and shows a key's fingerprint."""

from __future__ import annotations

from pathlib import Path

import click

from noarkit.api import bundles
from noarkit.cli.options import Session, command, option
from noarkit.cli.plan import FILE
from noarkit.cli.running import settings
from noarkit.errors import UsageFault
from noarkit.safe.atomic import write_bytes
from noarkit.safe.signing import PublicKey, new_key_pair, read_public

_PRIVATE = b"PRIVATE KEY-----"
_LOOKED_AT = 64 * 1024


@command("key", exits=(10,))
@click.argument("action", type=click.Choice(("new", "show")))
@click.argument("file", metavar="[FILE]", type=FILE, required=False)
@option("-o", "--output", type=FILE, metavar="FILE")
def key_command(session: Session, action: str, file: Path | None, *, output: Path | None) -> None:
    """Makes a pair of files that are not there yet, or tells whose key a file holds."""
    if action == "new":
        if output is None or file is not None:
            raise UsageFault(what="missing-argument", where="noarkit key new", do="noarkit key new -o seal.key")
        _new(session, output)
        return
    if file is None:
        raise UsageFault(what="missing-argument", where="noarkit key show", do="noarkit key show FILE")
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
    return bundles.signer(settings(session, None), path).public if private else bundles.public_key(path)

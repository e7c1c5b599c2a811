"""The keys of seals: the private one that seals, and the public ones that are trusted."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from noarkit.errors import ConfigFault, UsageFault
from noarkit.loading.next_step import SEAL_KEY, command_line
from noarkit.safe.signing import PublicKey, Signer, read_public, read_signer
from noarkit.secrets import read_private_file
from noarkit.settings import Place, Settings

Trust = Place | Sequence[Place] | None
_MOST_KEY_BYTES = 64 * 1024


def signer(settings: Settings, key: Place | None) -> Signer:
    """The private key that seals, the one given or that of the settings.

    Raises `UsageFault` where nothing names one, `SecretFault` where others may read it, `ConfigFault`.
    """
    path = Path(key) if key is not None else settings.config.seal.key
    if path is None:
        make = None if Path(SEAL_KEY).exists() else shlex.join(command_line("key", "new", "-o", SEAL_KEY))
        raise UsageFault(what="seal-key-wanted", where="--seal-key", fix=f"--seal-key {SEAL_KEY}", make=make)
    return read_signer(read_private_file(path, settings.environment), str(path))


def trusted_keys(settings: Settings, keys: Trust) -> tuple[PublicKey, ...]:
    """The trusted public keys: the given ones, else those of the settings. Raises `UsageFault`, `ConfigFault`."""
    key_places = [keys] if isinstance(keys, (str, Path)) else list(keys or ())
    paths = [Path(key_place) for key_place in key_places] or list(settings.config.seal.trusted)
    if not paths:
        raise UsageFault(what="trust-key-wanted", where="--trust-key", fix="--trust-key", own="file")
    return tuple(public_key(path) for path in paths)


def public_key(path: Path) -> PublicKey:
    """The public key in a file. Raises `ConfigFault`."""
    try:
        with path.open("rb") as file:
            return read_public(file.read(_MOST_KEY_BYTES), str(path))
    except OSError as error:
        raise ConfigFault(where=str(path), why="unreadable" if path.exists() else "not-there") from error

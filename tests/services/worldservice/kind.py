"""The world as a kind of service: what the entry point names."""

from __future__ import annotations

from noarkit.services.kind import ServiceKind

from .client import KEYS, World


def _again(key: str) -> tuple[str, str] | None:
    _, stream, thing = key.split(":")
    return (stream, thing) if stream == "letters" else None


WORLD = ServiceKind(name="world", package=__package__, setting_keys=KEYS, open_service=World, again_id=_again)

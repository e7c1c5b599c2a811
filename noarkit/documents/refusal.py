"""Why a document cannot be read: a code each, with its sentences in `words/`."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class Refusal(StrEnum):
    """Why nothing is read of a document."""

    PASSWORD = "password"  # noqa: S105  # a reason, not a secret
    DAMAGED = "damaged"
    CUT_OFF = "cut-off"
    BOMB = "bomb"
    TOO_LARGE = "too-large"
    UNKNOWN_FORMAT = "unknown-format"


class DocumentRefused(Exception):
    """A document that nobody may be given."""

    def __init__(self, reason: Refusal, **data: object) -> None:
        super().__init__(reason)
        self.reason = reason
        self.data: Mapping[str, object] = data

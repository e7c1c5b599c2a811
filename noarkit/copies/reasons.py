"""Why a document has no copy: a code each, with its sentences in `words/`."""

from __future__ import annotations

from enum import StrEnum

from noarkit.documents.refusal import Refusal
from noarkit.safe.sandbox import Stopped


class Reason(StrEnum):
    """Why there is no copy. What happened, what follows and what to do stand in `words/` under the same code."""

    # known before anything is converted
    PASSWORD = Refusal.PASSWORD.value
    DAMAGED = Refusal.DAMAGED.value
    EMPTY = "empty"
    HALF_WRITTEN = "half-written"
    CUT_OFF = Refusal.CUT_OFF.value
    WRONG_START = "wrong-start"
    UNKNOWN_FORMAT = Refusal.UNKNOWN_FORMAT.value
    FORMAT_MISMATCH = "format-mismatch"
    NO_RULE = "no-rule"
    MANUAL = "manual"
    TOO_LARGE = Refusal.TOO_LARGE.value
    BOMB = Refusal.BOMB.value
    EXTERNAL_CONTENT = "external-content"
    CONTENT_REFUSED = "content-refused"
    SIGNED = "signed"
    ATTACHMENTS = "attachments"
    UNREADABLE = "unreadable"
    # of the converter
    TOOL_MISSING = "tool-missing"
    TOOL_TOO_OLD = "tool-too-old"
    TIMED_OUT = Stopped.TIMED_OUT.value
    CRASHED = Stopped.CRASHED.value
    MEMORY = Stopped.MEMORY.value
    NO_RESULT = "no-result"
    NOT_SMALLER = "not-smaller"
    DISK_FULL = Stopped.DISK_FULL.value
    # of the gates
    WRONG_FORMAT = "wrong-format"
    NOT_VALID = "not-valid"
    BLANK = "blank"
    TEXT_MISSING = "text-missing"
    PAGES_DIFFER = "pages-differ"
    IMAGE_DIFFERS = "image-differs"
    # a person decides
    HELD = "held"

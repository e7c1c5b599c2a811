"""The keys of what a record becomes, made of the source's own."""

from __future__ import annotations

from noarkit.recipes.values import key_text

LONGEST_KEY = 8_000
CONTENTS_LEFT_OUT = "W224"
_RESERVED = ("folder:", "class:", "classification:", "arkiv:", "arkivdel:", "arkivskaper:", "record:")


def record_key(key: str) -> str:
    """The entity key of a source key."""
    clean_key = key_text(key)
    return f"record:{clean_key}" if clean_key.startswith(_RESERVED) else clean_key


def folder_key(key: str) -> str:
    """The entity key of a folder that some map's parents make."""
    return f"folder:{key_text(key)}"

"""The keys of what a record becomes, made of the source's own."""

from __future__ import annotations

from collections.abc import Container
from urllib.parse import quote

from noarkit.recipes.values import key_text

LONGEST_KEY = 8_000
CONTENTS_LEFT_OUT = "W224"
_NAMED = "#d="
_FOLDER = "folder:"
_RESERVED = (_FOLDER, "class:", "classification:", "arkiv:", "arkivdel:", "arkivskaper:", "record:")


def record_key(key: str) -> str:
    """The entity key of a source key."""
    clean_key = key_text(key)
    return f"record:{clean_key}" if clean_key.startswith(_RESERVED) else clean_key


def folder_key(key: str) -> str:
    """The entity key of a folder that some map's parents make."""
    return f"{_FOLDER}{key_text(key)}"


def folder_source_key(key: str) -> str:
    """The source key in the entity key of such a folder; empty for anything else.

    >>> folder_source_key("folder:7:Deals:41"), folder_source_key("7:Deals:41:snapshot")
    ('7:Deals:41', '')
    """
    return key.removeprefix(_FOLDER) if key.startswith(_FOLDER) else ""


def document_key(key: str, number: int, identity: str, taken_keys: Container[str]) -> str:
    """The entity key of a document of the record with this entity key: by its identity where the source gives one,
    which no other document of the record has got, else by its number.

    >>> document_key("a", 2, "receipt:7", ()), document_key("a", 2, "", ())
    ('a#d=receipt:7', 'a#d2')
    """
    named_key = f"{key}{_NAMED}{quote(identity, safe=':')}"
    return named_key if identity and named_key not in taken_keys else f"{key}#d{number}"


def document_identity(key: str) -> str:
    """The identity in the key of a document, as it is written there; empty for one that has a number.

    >>> document_identity("a#d=receipt:7"), document_identity("a#d2")
    ('receipt:7', '')
    """
    tail = key.rpartition("#")[2]  # a `#` in the record's key stands before, and none is in an identity
    return tail.removeprefix("d=") if tail.startswith("d=") else ""

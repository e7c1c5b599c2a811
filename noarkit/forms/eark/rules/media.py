"""Checks media types: the kinds that exist, and the names that IANA registers."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.resources import files

_WORD = r"[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126}"
_TYPE = re.compile(
    rf"(application|audio|chemical|example|font|haptics|image|message|model|multipart|text|video|x-{_WORD})"
    rf"/({_WORD})(?:;\S+)?",
    re.IGNORECASE,
)
_UNREGISTERED = ("vnd.", "prs.", "x.", "x-")


@lru_cache(maxsize=1_000)
def is_media_type(value: str, *, registered: bool = False) -> bool:
    """True for a media type of a kind that exists; where it must be `registered`, for a name that is no invention.

    Names of vendors, persons and experiments count as registered: nobody can list them all.

    >>> is_media_type("text/plain"), is_media_type("plain/text"), is_media_type("text/nonsense", registered=True)
    (True, False, False)
    """
    match = _TYPE.fullmatch(value)
    if match is None:
        return False
    kind, name = match[1].lower(), match[2].lower()
    if not registered or name.startswith(_UNREGISTERED) or "+" in name:
        return True
    registered_types = _registered_types()
    return kind not in registered_types or name in registered_types[kind]


@lru_cache(maxsize=1_000)
def has_template_name(value: str) -> bool:
    """True for a media type that IANA's lists have by its template name, as judges of packages read those lists.

    Names of vendors and persons, and those with a suffix, are taken for registered: nobody can list them all.

    >>> has_template_name("text/plain"), has_template_name("message/rfc822"), has_template_name("audio/x-wav")
    (True, False, False)
    """
    kind, _, name = value.lower().partition("/")
    table = _table()
    if not is_media_type(value) or kind in table["template"]["unlisted"].split() or kind not in table["registered"]:
        return False
    if name.startswith(("x.", "x-")) or ";" in name:
        return False
    return name.startswith(("vnd.", "prs.")) or "+" in name or name in table["registered"][kind].split()


@cache
def _registered_types() -> Mapping[str, frozenset[str]]:
    table = _table()
    kinds = table["registered"].keys() | table["met"].keys()
    return {
        kind: frozenset(f"{table['registered'].get(kind, '')} {table['met'].get(kind, '')}".split()) for kind in kinds
    }


@cache
def _table() -> Mapping[str, Mapping[str, str]]:
    return tomllib.loads(files(__package__).joinpath("media_types.toml").read_text("utf-8"))

"""References as packages spell them: plain, percent-encoded, form-encoded, with `file:` before them, or leading out.

A reference is tried as what it most likely is; the first spelling under which a file lies wins. None ever leads out of
the package: what climbs, or names a place on somebody's disk, is told as that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import unquote, unquote_plus

from noarkit.errors import UnsafePath
from noarkit.safe.paths import checked_parts

Find = Callable[[str], str | None]
"""Gives the stored spelling of a name, where there is such a file."""

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
_SHARED = ("schemas/", "documentation/")
_PLAIN = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*(?:/[A-Za-z0-9_-][A-Za-z0-9_.-]*)*")


@dataclass(frozen=True, slots=True)
class ResolvedHref:
    """Where a reference leads. `why` is empty if a file lies there, else `missing`, `outside` or `unsafe`."""

    name: str
    why: str = ""


def resolve(href: str, folder: str, find: Find) -> ResolvedHref:
    """The file that a METS in `folder` (empty, or ending in `/`) refers to."""
    if _PLAIN.fullmatch(href):  # as most are
        stored_name = find(folder + href)
        if stored_name is not None:
            return ResolvedHref(stored_name)
    path, outside = _path(href)
    if outside:
        return ResolvedHref(href, "outside")
    first: str | None = None
    for number, spelt in enumerate(_spellings(path)):
        for base in (folder, "") if folder else ("",):
            name = _plain_name(base, spelt)
            if name is None or (folder and not base and _is_foreign(name, folder)):
                continue
            first = name if first is None and number == 0 else first
            stored_name = find(name)
            if stored_name is not None:
                return ResolvedHref(stored_name)
    return ResolvedHref(href, "unsafe") if first is None else ResolvedHref(first, "missing")


def _path(href: str) -> tuple[str, bool]:
    """The path without its scheme, and whether it names a place outside of any package."""
    match = _SCHEME.match(href)
    if match is None:
        return href, href.startswith("/")
    if match.group().lower() != "file:":
        return href, True
    path = href[match.end() :]
    if path.startswith("//"):
        path = path[2:]
    if path.startswith("/"):
        return path, True
    return path, False


def _spellings(path: str) -> Iterator[str]:
    """What may be meant: decoded, as it stands, decoded as a form is, with the other slash."""
    yielded: set[str] = set()
    for spelt in (unquote(path), path, unquote_plus(path), unquote(path).replace("\\", "/")):
        if spelt not in yielded:
            yielded.add(spelt)
            yield spelt


def _is_foreign(name: str, folder: str) -> bool:
    """True if a name, seen from the root, would be a file that is not of this folder, nor shared by all: the same
    path in the package itself describes the package, and stands in for no file that the representation lacks."""
    return not name.startswith((folder, *_SHARED))


def _plain_name(base: str, spelt: str) -> str | None:
    """The plain name, None if it is none."""
    try:
        return "/".join(checked_parts(base + spelt))
    except UnsafePath:
        return None

"""Fingerprints of places: a short text that changes whenever what a place holds may have changed, or who reads it."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from noarkit.version import __version__


def fingerprint_of(*evidence: str | Path) -> str:
    """The fingerprint of texts, and of files by path, size and time. A file that is not there, or empty, counts as
    none."""
    digest = sha256(__version__.encode())
    for fact in evidence:
        digest.update((_stamp(fact) if isinstance(fact, Path) else fact).encode("utf-8", "surrogateescape") + b"\0")
    return digest.hexdigest()


def _stamp(path: Path) -> str:
    try:
        status = path.stat()
    except OSError:
        return ""
    return f"{path.name}\0{status.st_size}\0{status.st_mtime_ns}" if status.st_size else ""

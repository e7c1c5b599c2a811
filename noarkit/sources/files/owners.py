"""Whose mails these are, by their addresses: the owner's domain stands in nearly every mail, whichever way it went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from noarkit.sources.files import mail, outlook

_LEAST_MAILS = 3
_LEAST_SHARE = 0.6
_MOST_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Owner:
    """The domain that most mails name; empty if none stands out. `mails` of the `read` ones name it."""

    domain: str = ""
    mails: int = 0
    read: int = 0


def owner_of(paths: Iterable[Path]) -> Owner:
    """Reads the heads of some mails and says whose they are. One that cannot be read says nothing."""
    read, counts = 0, Counter[str]()
    for path in paths:
        domains = _domains(path)
        if domains:
            read += 1
            counts.update(domains)
    most = counts.most_common(2)
    stands_out = len(most) == 1 or (len(most) == 2 and most[0][1] > most[1][1])
    if not stands_out or read < _LEAST_MAILS or most[0][1] < _LEAST_SHARE * read:
        return Owner(read=read)
    return Owner(most[0][0], most[0][1], read)


def _domains(path: Path) -> set[str]:
    try:
        with path.open("rb") as file:
            if path.suffix.lower() != ".msg":
                message = mail.read_head(file.read(mail.HEAD_BYTES))
            elif path.stat().st_size > _MOST_BYTES:
                return set()
            else:
                message = outlook.read_message(file, include_parts=False)
    except OSError:
        return set()  # whoever reads the source says that it cannot be read
    parties = message.fields.get("parties")
    entries = parties if isinstance(parties, list) else []
    return {domain for party in entries if (domain := mail.domain_of(str(party["address"])))}

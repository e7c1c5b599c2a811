"""Whose mails these are, by their addresses: the owner's domain stands in nearly every mail, whichever way it went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from noarkit.documents import mail, outlook

_LEAST_MAILS = 3
_MOST_CANDIDATES = 5
_LEAST_SHARE = 0.6
_MOST_BYTES = 8 * 1024 * 1024
_OF_PERSONS = frozenset(
    {"gmail.com", "googlemail.com", "hotmail.com", "hotmail.no", "outlook.com", "live.com", "live.no", "msn.com"}
    | {
        "yahoo.com",
        "yahoo.no",
        "icloud.com",
        "me.com",
        "mac.com",
        "online.no",
        "start.no",
        "broadpark.no",
        "getmail.no",
    }
    | {"lyse.net", "proton.me", "protonmail.com", "altibox.no", "frisurf.no", "c2i.net", "epost.no"}
)
"""Domains at which persons have their mail: no archive is theirs."""
_PUBLIC = (".kommune.no", ".fylkeskommune.no", ".fylke.no", ".dep.no", ".stat.no", ".herad.no")


@dataclass(frozen=True, slots=True)
class Owner:
    """The domain that most mails name; empty if none stands out. `mails` of the `read` ones name it. `candidates` are
    those between which nothing decided."""

    domain: str = ""
    mails: int = 0
    read: int = 0
    candidates: tuple[str, ...] = ()


def owner_of(paths: Iterable[Path]) -> Owner:
    """Reads the heads of some mails and says whose they are. One that cannot be read says nothing.

    Of two domains that every mail names, as in the letters of one case, it is not that of a person's mail account; else
    the one of a public body; else the one with more addresses.
    """
    read, counts, addresses = 0, Counter[str](), set[tuple[str, str]]()
    for path in paths:
        pairs = _addresses(path)
        if pairs:
            read += 1
            counts.update({domain for domain, _ in pairs})
            addresses |= pairs
    most = max((count for domain, count in counts.items() if domain not in _OF_PERSONS), default=0)
    if read < _LEAST_MAILS or most < _LEAST_SHARE * read:
        return Owner(read=read)
    likely = sorted(domain for domain, count in counts.items() if count == most and domain not in _OF_PERSONS)
    domain = _deciding(likely, Counter(domain for domain, _ in addresses))
    return Owner(domain, most, read) if domain else Owner(read=read, candidates=tuple(likely[:_MOST_CANDIDATES]))


def _deciding(likely: list[str], addresses: Counter[str]) -> str:
    """The one among equally frequent domains that something speaks for; empty where nothing does."""
    public = [domain for domain in likely if f".{domain}".endswith(_PUBLIC)]
    for domains in (likely, public):
        if len(domains) == 1:
            return domains[0]
    ranked = sorted(public or likely, key=lambda domain: -addresses[domain])
    return ranked[0] if addresses[ranked[0]] > addresses[ranked[1]] else ""


def _addresses(path: Path) -> set[tuple[str, str]]:
    """The addresses in the head of a mail, each with its domain."""
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
    texts = [str(party["address"]).lower() for party in parties] if isinstance(parties, list) else []
    return {(domain, text) for text in texts if (domain := mail.domain_of(text))}

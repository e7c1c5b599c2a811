"""Whose mails these are, by their addresses: the owner's domain stands in nearly every mail, whichever way it went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from noarkit.documents import mail, mailbox, outlook
from noarkit.safe.descriptors import read_at

_LEAST_MAILS = 3
_MOST_CANDIDATES = 5
_LEAST_SHARE = 0.3
_LEAST_SHARE_ALONE = 0.6
_MOST_OF_MAILBOXES = 5_000
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
    """The owner's domain; empty if nothing decides which it is. `mails` of the `read` ones name it. `candidates` are
    those between which nothing decided, each with how many mails name it."""

    domain: str = ""
    mails: int = 0
    read: int = 0
    candidates: tuple[str, ...] = ()


def owner_of(paths: Iterable[Path], mailboxes: Iterable[Path] = ()) -> Owner:
    """Reads the heads of some mails and says whose they are. One that cannot be read says nothing.

    Of the domains that many mails name, it is the one of a public body; else the only one, if most mails name it. A
    domain of persons' mail accounts is none. Whoever writes most may be a citizen, so that frequency alone decides
    nothing between two.
    """
    read, counts, addresses = 0, Counter[str](), set[tuple[str, str]]()
    mails = chain(map(_fields, paths), islice(chain.from_iterable(map(mailbox_fields, mailboxes)), _MOST_OF_MAILBOXES))
    for fields in mails:
        pairs = _addresses(fields)
        if pairs:
            read += 1
            counts.update({domain for domain, _ in pairs})
            addresses |= pairs
    if read < _LEAST_MAILS:
        return Owner(read=read)
    ranked_domains = sorted(counts, key=lambda domain: (-counts[domain], domain))
    likely = [name for name in ranked_domains if counts[name] >= _LEAST_SHARE * read and name not in _OF_PERSONS]
    domain = _deciding(likely, counts, Counter(domain for domain, _ in addresses))
    if domain and (_is_public(domain) or counts[domain] >= _LEAST_SHARE_ALONE * read):
        return Owner(domain, counts[domain], read)
    return Owner(read=read, candidates=tuple(f"{name} ({counts[name]})" for name in likely[:_MOST_CANDIDATES]))


def _deciding(likely: list[str], counts: Counter[str], addresses: Counter[str]) -> str:
    """The one domain that something speaks for; empty where nothing does."""
    public = [name for name in likely if _is_public(name)]
    for domains in (public, likely):
        if len(domains) == 1:
            return domains[0]
        if public:  # several bodies that write to each other: the one in most mails, with most people
            first, second = sorted(((counts[name], addresses[name], name) for name in public), reverse=True)[:2]
            return first[2] if first[:2] > second[:2] else ""
    return ""


def _is_public(domain: str) -> bool:
    return f".{domain}".endswith(_PUBLIC)


def mailbox_fields(path: Path) -> Iterator[Mapping[str, object]]:
    """What the heads of the mails in a mailbox say, one by one; nothing where it cannot be read."""
    try:
        with path.open("rb") as file:
            for span in mailbox.spans(file.fileno()):
                head = read_at(file.fileno(), min(span.length, mail.HEAD_BYTES), span.offset)
                yield mail.read_head(head).fields
    except OSError:
        return  # whoever reads the source says that it cannot be read


def _fields(path: Path) -> Mapping[str, object]:
    """What the head of a single mail says."""
    try:
        with path.open("rb") as file:
            if path.suffix.lower() != ".msg":
                message = mail.read_head(file.read(mail.HEAD_BYTES))
            elif path.stat().st_size > _MOST_BYTES:
                return {}
            else:
                message = outlook.read_message(file, include_parts=False)
    except OSError:
        return {}  # whoever reads the source says that it cannot be read
    return message.fields


def _addresses(fields: Mapping[str, object]) -> set[tuple[str, str]]:
    """The addresses in the head of a mail, each with its domain."""
    parties = fields.get("parties")
    texts = [str(party["address"]).lower() for party in parties] if isinstance(parties, list) else []
    return {(domain, text) for text in texts if (domain := mail.domain_of(text))}

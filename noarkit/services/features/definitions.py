"""What is archived of a definition: its own members, without secrets and volatile values, and with pseudonyms for
people if a key is configured."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone

from noarkit.errors import ServiceStrange
from noarkit.services.canonical import REMOVED, canonical, fingerprint, parse, redact, without_secrets
from noarkit.services.paging import Row

SINGULAR = {
    "gates": "gate", "dynamic_configs": "dynamic_config", "experiments": "experiment", "layers": "layer",
    "segments": "segment", "param_stores": "param_store", "autotunes": "autotune", "holdouts": "holdout",
    "metrics": "metric",
}  # fmt: skip
_PEOPLE = frozenset({"targetvalue", "overrides", "ids", "passinguserids", "failinguserids", "useroverrides"})
_PEOPLE_LISTS = frozenset({"ids", "id_list", "idlist"})
_MEMBER = re.compile(r"""["']?([A-Za-z_$][\w$-]*)["']?\s*:""")
_MONTHS = {
    name: number
    for number, name in enumerate(
        ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"), start=1
    )
}
_DATE = re.compile(r"[A-Za-z]{3} ([A-Za-z]{3}) (\d{1,2}) (\d{4})", re.ASCII)
_TIME = re.compile(r"(\d{2}):(\d{2}):(\d{2}) GMT([+-])(\d{2}):?(\d{2})(?: .*)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Redaction:
    """What is removed from a definition, and the key for pseudonyms."""

    volatile: frozenset[str]
    drop: tuple[str, ...] = ()
    pseudonym_key: bytes = b""

    def apply(self, row: Row) -> Mapping[str, object]:
        """Returns what is archived of a definition."""
        clean = without_secrets({name: row[name] for name in row if name not in self.volatile}, self.drop)
        members = dict(clean) if isinstance(clean, Mapping) else {}
        if str(row.get("type")).endswith("id_list"):
            members = {name: value for name, value in members.items() if name.casefold() not in _PEOPLE_LISTS}
        redacted = self._hide(members, people=False)
        return redacted if isinstance(redacted, Mapping) else {}

    def _hide(self, value: object, *, people: bool) -> object:
        if isinstance(value, Mapping):
            return {
                name: self._hide(inner, people=people or str(name).casefold() in _PEOPLE)
                for name, inner in value.items()
            }
        if isinstance(value, Sequence) and not isinstance(value, str):
            return [self._hide(inner, people=people) for inner in value]
        if not isinstance(value, str):
            return value
        if people and self.pseudonym_key:
            return redact(value, self.pseudonym_key)
        return self._redact_text(value)

    def _redact_text(self, text: str) -> str:
        """Redacts a text that holds JSON as the JSON would be. Text that looks like JSON but cannot be parsed is
        removed if it may hold secrets."""
        if not text.lstrip().startswith(("{", "[")):
            return text
        names = {name.casefold() for name in _MEMBER.findall(text)}
        secret = any(without_secrets({name: "x"}, self.drop) != {name: "x"} for name in names)
        if not secret and not (self.pseudonym_key and names & _PEOPLE):
            return text
        try:
            inner = parse(text.encode("utf-8", "surrogatepass"), "")
        except ServiceStrange:
            return REMOVED
        return canonical(self._hide(without_secrets(inner, self.drop), people=False)).decode()


@dataclass(frozen=True, slots=True)
class State:
    """A definition at one moment: `tail` is the part of its key that identifies this state."""

    kind: str
    id: str
    tail: str
    data: Mapping[str, object]
    changed_at: datetime | None

    @property
    def document(self) -> bytes:
        """Its canonical bytes."""
        return canonical(self.data)


def state_of(kind: str, row: Row, redaction: Redaction) -> State:
    """Builds the current state of a definition. It is identified by its version, else by its time of change, else by
    its own bytes."""
    data = redaction.apply(row)
    changed_at, version = moment(row.get("lastModifiedTime")), row.get("version")
    if isinstance(version, int) and not isinstance(version, bool):
        tail = f"v{version}"
    elif changed_at is not None:
        tail = str(row["lastModifiedTime"])
    else:
        tail = fingerprint(data)[:16]
    return State(kind, ident(row), tail, data, changed_at)


def ident(row: Row) -> str:
    """Returns the id of a definition; some have a name only."""
    return str(row["id"] if row.get("id") is not None else row.get("name"))


def moment(value: object) -> datetime | None:
    """Parses a time in milliseconds since 1970, as a number or a text."""
    try:
        return datetime.fromtimestamp(int(str(value)) / 1_000, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def audit_moment(date: object, time: object) -> datetime | None:
    """Parses a time of the audit log, independent of this machine's locale; None for any other format.

    >>> audit_moment("Mon Sep 26 2022", "23:46:14 GMT+0200 (Central European Summer Time)").isoformat()
    '2022-09-26T21:46:14+00:00'
    """
    day, hour = _DATE.fullmatch(str(date).strip()), _TIME.fullmatch(str(time).strip())
    if day is None or hour is None or day[1] not in _MONTHS:
        return None
    offset = timedelta(hours=int(hour[5]), minutes=int(hour[6]))
    try:
        zone = timezone(-offset if hour[4] == "-" else offset)
        begin = datetime(int(day[3]), _MONTHS[day[1]], int(day[2]), tzinfo=zone)
        return begin.replace(hour=int(hour[1]), minute=int(hour[2]), second=int(hour[3])).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def names(value: object) -> list[str]:
    """Returns a list of texts from a list or a single text."""
    if isinstance(value, str):
        return [value] if value else []
    return [str(item) for item in value if isinstance(item, str | int)] if isinstance(value, Iterable) else []

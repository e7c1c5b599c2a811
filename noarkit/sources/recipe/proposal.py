"""A recipe fitted to what a source holds: what was seen is counted, and becomes a text that explains itself.

Counting takes constant memory, whatever the source; nothing seen is written down but names of fields and short codes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from noarkit.model import metamodel
from noarkit.sources.port import SourceRecord
from noarkit.sources.recipe.lines import Path
from noarkit.sources.recipe.personal import holds_identity_number
from noarkit.sources.recipe.values import Formats, ValueRefused, is_blank, make_formats, to_date
from noarkit.sources.recipe.writing import render

_MOST_FIELDS = 200
_MOST_CODES = 12
_LONGEST_CODE = 24
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TITLES = ("title", "tittel", "mail.subject", "subject", "emne", "summary", "stem", "name", "navn")
_DATES = ("document_date", "dato", "date", "mail.date", "created_at", "created", "modified")
_FOLDERS = ("case", "sak", "saksnummer", "project", "top", "folder", "mappe")
_AUTHORS = ("author", "forfatter", "creator")
_KEYWORDS = ("keywords", "tags", "labels", "emneord")


@dataclass(slots=True)
class FieldSeen:
    """What was seen of one field: how often it had a value, of which kinds; `codes` while they are few and short."""

    present: int = 0
    kinds: dict[str, int] = field(default_factory=dict)
    codes: dict[str, int] | None = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """The usual kind: text, date, number, flag, list or mapping."""
        return max(self.kinds, key=lambda kind: self.kinds[kind], default="text")


@dataclass(slots=True)
class KindSeen:
    """What was seen of the records of one kind."""

    records: int = 0
    with_content: int = 0
    most_contents: int = 0
    identity_numbers: int = 0
    fields: dict[str, FieldSeen] = field(default_factory=dict)


def observe(records: Iterable[SourceRecord]) -> dict[str, KindSeen]:
    """Counts `records` by kind, and what their fields hold."""
    formats = make_formats(Formats())
    kinds: dict[str, KindSeen] = {}
    for record in records:
        seen = kinds.setdefault(record.kind, KindSeen())
        seen.records += 1
        seen.with_content += bool(record.contents)
        seen.most_contents = max(seen.most_contents, len(record.contents))
        seen.identity_numbers += holds_identity_number(record.fields)
        for name, value in _flat(record.fields):
            if name in seen.fields or len(seen.fields) < _MOST_FIELDS:
                _count(seen.fields.setdefault(name, FieldSeen()), value, formats)
    return kinds


def propose(kinds: Mapping[str, KindSeen], *, source_kind: str, external_system: str) -> str:
    """A commented recipe for a source of `source_kind` that holds `kinds`."""
    folder = {kind: _first(seen, _FOLDERS) for kind, seen in kinds.items()}
    model = 2 if any(folder.values()) else 1
    numbers = sum(seen.identity_numbers for seen in kinds.values())
    data: dict[str, object] = {
        "source": {"kind": source_kind},
        "target": {
            "external_system": external_system,
            "model": model,
            "zone": "Europe/Oslo",
            "arkivskaper": {"fields": {"arkivskaperIdent": "ukjent", "arkivskaperNavn": "Ukjent"}},
            "arkiv": {"fields": {"tittel": external_system}},
            "arkivdel": {"mode": "find-or-create", "fields": {"tittel": external_system}},
        },
        "personal_data": {"identity_numbers": "report"},
    }
    comments: dict[Path, str] = {
        (): _head(kinds),
        ("target",): "external_system names this source in the archive: never change it between runs.",
        ("target", "arkivskaper"): "Who made the records: organisation number and name.",
        ("target", "arkivdel"): 'To use one that stands in the archive: mode = "find", and its tittel.',
        ("personal_data",): f"Records with a national identity number in some text, of those seen: {numbers}.\n"
        '"set-aside" leaves them out; "screen" (with screening = "CODE") gives them that skjerming.',
    }
    codes = _code_tables(kinds)
    if codes:
        data["codes"] = codes
        comments["codes",] = (
            "Values that look like codes, as they were seen: give each the archive's own, and use the\n"
            + ("table as in \"= record.status | code('status')\".")
        )
    data["map"] = [_map(kind, seen, folder[kind]) for kind, seen in kinds.items()]
    for index, (kind, seen) in enumerate(kinds.items()):
        comments["map", index] = _told(kind, seen)
    return render(data, comments)


def described(kinds: Mapping[str, KindSeen]) -> str:
    """What was seen, as comments for the head of a recipe that is made by other means."""
    numbers = sum(seen.identity_numbers for seen in kinds.values())
    lines = [_head(kinds), f"Records with a national identity number in some text, of those seen: {numbers}."]
    for kind, seen in kinds.items():
        lines += _told(kind, seen).splitlines()
    return "".join(f"# {line}\n" for line in lines)


def _head(kinds: Mapping[str, KindSeen]) -> str:
    total = sum(seen.records for seen in kinds.values())
    return f"Proposed from {total} records. Read it through, change what is wrong, and let it be checked before a plan."


def _map(kind: str, seen: KindSeen, folder: str | None) -> dict[str, object]:
    title = _first(seen, _TITLES)
    fields: dict[str, object] = {"tittel": f"= {_choice([title] if title else [])}"}
    day = _first(seen, _DATES, "date")
    if day:
        fields["dokumentetsDato"] = f"= {_expression(day)} | default(none)"
    author = _first(seen, _AUTHORS, "text")
    if author:
        fields["forfatter"] = f"= {_expression(author)} | default(none)"
    known = metamodel().types["Basisregistrering"].fields
    for name, one in seen.fields.items():
        if name in known and known[name].save == "x" and one.kind in ("text", "date", "number"):
            fields.setdefault(name, f"= {_expression(name)} | default(none)")
    made: dict[str, object] = {"for": kind, "type": "Basisregistrering"}
    words = _first(seen, _KEYWORDS, "list")
    if words:
        made["keywords"] = f"= {_expression(words)} | default([])"
    made["fields"] = fields
    if folder:
        key = f"= {_expression(folder)} | default('.')"
        made["parents"] = [{"key": key, "type": "Mappe", "fields": {"tittel": key}}]
    return made


def _choice(names: list[str]) -> str:
    return " | default(".join([*(_expression(name) for name in names), "key"]) + ")" * len(names)


def _told(kind: str, seen: KindSeen) -> str:
    fields = [f"{name} ({one.kind}, {one.present})" for name, one in list(seen.fields.items())[:60] if one.present]
    lines = [f"{kind}: {seen.records} records, {seen.with_content} with contents (at most {seen.most_contents})."]
    line = "Fields:"
    for told in fields:
        if len(line) + len(told) > 110:
            lines.append(line)
            line = " "
        line += f" {told}"
    return "\n".join([*lines, line] if fields else lines)


def _code_tables(kinds: Mapping[str, KindSeen]) -> dict[str, object]:
    tables: dict[str, object] = {}
    for seen in kinds.values():
        for name, one in seen.fields.items():
            few = one.codes is not None and 1 < len(one.codes) <= _MOST_CODES
            if one.codes and few and one.present >= 5 * len(one.codes) and one.kind == "text" and "." not in name:
                tables.setdefault(name, {code: code for code in sorted(one.codes)})
    return tables


def _first(seen: KindSeen, names: Iterable[str], kind: str | None = None) -> str | None:
    """The first of `names` that at least every second record has, with values of that kind."""
    for name in names:
        one = seen.fields.get(name)
        if one and one.present * 2 >= seen.records and (kind is None or one.kind == kind):
            return name
    return None


def _expression(name: str) -> str:
    parts = name.split(".")
    if all(_NAME.fullmatch(part) for part in parts):
        return "record." + ".".join(parts)
    return "record" + "".join("['" + part.replace("\\", "\\\\").replace("'", "\\'") + "']" for part in parts)


def _flat(fields: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for name, value in fields.items():
        if isinstance(value, Mapping):
            for inner, part in value.items():
                yield f"{name}.{inner}", part
        else:
            yield name, value


def _count(seen: FieldSeen, value: object, formats: Formats) -> None:
    if is_blank(value) or value in ([], {}, ()):
        return
    seen.present += 1
    kind = _kind_of(value, formats)
    seen.kinds[kind] = seen.kinds.get(kind, 0) + 1
    if seen.codes is None:
        return
    if (
        not isinstance(value, str)
        or len(value) > _LONGEST_CODE
        or (value not in seen.codes and len(seen.codes) >= _MOST_CODES)
    ):
        seen.codes = None
    else:
        seen.codes[value] = seen.codes.get(value, 0) + 1


def _kind_of(value: object, formats: Formats) -> str:
    if isinstance(value, bool):
        return "flag"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, Mapping):
        return "mapping"
    if isinstance(value, list | tuple):
        return "list"
    try:
        to_date(value, formats)
    except ValueRefused:
        return "text"
    return "date"

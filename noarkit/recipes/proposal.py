"""A recipe fitted to what a source holds: what was seen is counted, and becomes a text that explains itself.

Counting takes constant memory, whatever the source; nothing seen is written down but names of fields and short codes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from noarkit.model import metamodel
from noarkit.recipes.comments import comment
from noarkit.recipes.date_headings import DOCUMENT_DAYS, TIMES_OF_SYSTEMS
from noarkit.recipes.lines import Path
from noarkit.recipes.personal import holds_identity_number
from noarkit.recipes.toml_writer import render
from noarkit.recipes.values import Formats, ValueRefused, is_blank, make_formats, to_date
from noarkit.records import SourceRecord

_MOST_FIELDS = 200
_MOST_CODES = 12
_LONGEST_CODE = 24
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TITLES = ("title", "tittel", "mail.subject", "subject", "emne", "summary", "stem", "name", "navn")
_FOLDERS = ("case", "sak", "saksnummer", "project", "top", "folder", "mappe")
_AUTHORS = ("author", "forfatter", "creator")
_KEYWORDS = ("keywords", "tags", "labels", "emneord")


@dataclass(slots=True)
class FieldStats:
    """What was seen of one field: how often it had a value, of which kinds; `codes` while they are few and short."""

    present: int = 0
    kinds: dict[str, int] = field(default_factory=dict)
    codes: dict[str, int] | None = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """The usual kind: text, date, number, flag, list or mapping."""
        return max(self.kinds, key=lambda kind: self.kinds[kind], default="text")


@dataclass(slots=True)
class KindStats:
    """What was seen of the records of one kind."""

    records: int = 0
    with_content: int = 0
    most_contents: int = 0
    identity_numbers: int = 0
    fields: dict[str, FieldStats] = field(default_factory=dict)


def observe(records: Iterable[SourceRecord]) -> dict[str, KindStats]:
    """Counts `records` by kind, and what their fields hold."""
    formats = make_formats(Formats())
    kinds: dict[str, KindStats] = {}
    for record in records:
        stats = kinds.setdefault(record.kind, KindStats())
        stats.records += 1
        stats.with_content += bool(record.contents)
        stats.most_contents = max(stats.most_contents, len(record.contents))
        stats.identity_numbers += holds_identity_number(record.fields)
        for name, value in _flat(record.fields):
            if name in stats.fields or len(stats.fields) < _MOST_FIELDS:
                _count(stats.fields.setdefault(name, FieldStats()), value, formats)
    return kinds


def propose(kinds: Mapping[str, KindStats], *, source_kind: str, external_system: str, lang: str = "en") -> str:
    """A commented recipe for a source of `source_kind` that holds `kinds`."""
    folder = {kind: _first(stats, _FOLDERS) for kind, stats in kinds.items()}
    model = 2 if any(folder.values()) else 1
    numbers = sum(stats.identity_numbers for stats in kinds.values())
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
        "dates": {"case": "span"},
        "personal_data": {"identity_numbers": "report"},
    }
    comments: dict[Path, str] = {
        (): _head(kinds, lang),
        ("target",): comment(lang, "system"),
        ("target", "arkivskaper"): comment(lang, "arkivskaper"),
        ("target", "arkivdel"): comment(lang, "arkivdel"),
        ("dates",): comment(lang, "dates-of-records"),
        ("personal_data",): comment(lang, "personal-count", numbers=numbers),
    }
    codes = _code_tables(kinds)
    if codes:
        data["codes"] = codes
        comments["codes",] = comment(lang, "codes")
    data["map"] = [_map(kind, stats, folder[kind]) for kind, stats in kinds.items()]
    for index, (kind, stats) in enumerate(kinds.items()):
        comments["map", index] = _kind_comment(kind, stats, lang)
    return render(data, comments)


def describe_kinds(kinds: Mapping[str, KindStats], lang: str = "en") -> str:
    """What was seen, as comments for the head of a recipe that is made by other means."""
    numbers = sum(stats.identity_numbers for stats in kinds.values())
    lines = [_head(kinds, lang), comment(lang, "numbers", numbers=numbers)]
    for kind, stats in kinds.items():
        lines += _kind_comment(kind, stats, lang).splitlines()
    return "".join(f"# {line}\n" for line in lines)


def _head(kinds: Mapping[str, KindStats], lang: str) -> str:
    return comment(lang, "head", records=sum(stats.records for stats in kinds.values()))


def _map(kind: str, stats: KindStats, folder: str | None) -> dict[str, object]:
    title = _first(stats, _TITLES)
    fields: dict[str, object] = {"tittel": f"= {_choice([title] if title else [])}"}
    day = _first(stats, (*DOCUMENT_DAYS, *TIMES_OF_SYSTEMS), "date")
    if day:
        fields["dokumentetsDato"] = f"= {_expression(day)} | default(none)"
    author = _first(stats, _AUTHORS, "text")
    if author:
        fields["forfatter"] = f"= {_expression(author)} | default(none)"
    noark_fields = metamodel().types["Basisregistrering"].fields
    for name, field_stats in stats.fields.items():
        if name in noark_fields and noark_fields[name].save == "x" and field_stats.kind in ("text", "date", "number"):
            fields.setdefault(name, f"= {_expression(name)} | default(none)")
    rule: dict[str, object] = {"for": kind, "type": "Basisregistrering"}
    words = _first(stats, _KEYWORDS, "list")
    if words:
        rule["keywords"] = f"= {_expression(words)} | default([])"
    rule["fields"] = fields
    if folder:
        key = f"= {_expression(folder)} | default('.')"
        rule["parents"] = [{"key": key, "type": "Mappe", "fields": {"tittel": key}}]
    return rule


def _choice(names: list[str]) -> str:
    return " | default(".join([*(_expression(name) for name in names), "key"]) + ")" * len(names)


def _kind_comment(kind: str, stats: KindStats, lang: str) -> str:
    fields = [
        f"{name} ({comment(lang, f'is-{field_stats.kind}')}, {field_stats.present})"
        for name, field_stats in list(stats.fields.items())[:60]
        if field_stats.present
    ]
    counts = {"records": stats.records, "with_content": stats.with_content, "most": stats.most_contents}
    lines = [comment(lang, "kind", kind=kind, **counts)]
    line = comment(lang, "fields")
    for text in fields:
        if len(line) + len(text) > 110:
            lines.append(line)
            line = " "
        line += f" {text}"
    return "\n".join([*lines, line] if fields else lines)


def _code_tables(kinds: Mapping[str, KindStats]) -> dict[str, object]:
    tables: dict[str, object] = {}
    for stats in kinds.values():
        for name, field_stats in stats.fields.items():
            few = field_stats.codes is not None and 1 < len(field_stats.codes) <= _MOST_CODES
            if (
                field_stats.codes
                and few
                and field_stats.present >= 5 * len(field_stats.codes)
                and field_stats.kind == "text"
                and "." not in name
            ):
                tables.setdefault(name, {code: code for code in sorted(field_stats.codes)})
    return tables


def _first(stats: KindStats, names: Iterable[str], kind: str | None = None) -> str | None:
    """The first of `names` that at least every second record has, with values of that kind."""
    for name in names:
        field_stats = stats.fields.get(name)
        if field_stats and field_stats.present * 2 >= stats.records and (kind is None or field_stats.kind == kind):
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


def _count(stats: FieldStats, value: object, formats: Formats) -> None:
    if is_blank(value) or value in ([], {}, ()):
        return
    stats.present += 1
    kind = _kind_of(value, formats)
    stats.kinds[kind] = stats.kinds.get(kind, 0) + 1
    if stats.codes is None:
        return
    if (
        not isinstance(value, str)
        or len(value) > _LONGEST_CODE
        or (value not in stats.codes and len(stats.codes) >= _MOST_CODES)
    ):
        stats.codes = None
    else:
        stats.codes[value] = stats.codes.get(value, 0) + 1


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

"""A recipe for a database, as a records manager would begin one: case files, records, documents, parties, keywords.

What the documents' table belongs to becomes a Saksmappe, its rows records, its documents their documents; what these
refer to becomes parties and keywords, and what refers to them notes. Every row becomes something or is left out with
its reason, and the whole row stands as text in `beskrivelse` or in the note.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from noarkit.model.own_marks import USUAL_SCREENING, USUAL_UNIT
from noarkit.recipes.comments import comment, first_names
from noarkit.recipes.lines import Path as Place
from noarkit.recipes.toml_table import ASK
from noarkit.recipes.toml_writer import render
from noarkit.sources.column_meanings import correspondent_role
from noarkit.sources.database.address import SQLITE, Address
from noarkit.sources.database.case_fields import (
    ProposedFields,
    Words,
    case_fields,
    document_fields,
    party_role,
)
from noarkit.sources.database.documents import DatabaseSettings
from noarkit.sources.database.expressions import path as _path
from noarkit.sources.database.expressions import quoted as _quoted
from noarkit.sources.database.profile import TableStats, personal_data_kind
from noarkit.sources.database.roles import Roles, display_column, find_column, roles_of, title_column
from noarkit.sources.database.rows import child_name
from noarkit.sources.database.rule_parts import (
    PARTY_FIELDS,
    condition_of,
    folder_of,
    tables_last,
    unnamed_party,
    usual_day,
    without,
)
from noarkit.sources.database.schema import Relation, Schema, Table
from noarkit.sources.database.screened_rows import ScreenedRows
from noarkit.sources.database.values import Kind
from noarkit.words.texts import plain

_DATES = (Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMP_ZONE)
_RECORD = "Basisregistrering"
_CASE = "Saksmappe"
_POST = "Journalpost"
_OF_POSTS = ("journalposttype", "journalpostnummer", "mottattDato", "sendtDato", "registreringsDato")
"""The fields that only a Journalpost has."""
_ROLE = "Part"
_LONGEST_TITLE = 250
_DATE_NAMES = r"(dato|date|opprettet|created|registrert|mottatt|sendt)"
_AUTHORS = r"(forfatter|author|saksbehandler|ansvarlig|opprettet_av|created_by|owner|eier|handler)"
_YEARS = re.compile(r"(?i)(saks?|case|arkiv)?_?(aar|år|year)")
_CREATORS = r"(opprettet_?av|created_?by|registrert_?av|registered_?by)"


def propose(
    address: Address,
    schema: Schema,
    stats: Mapping[str, TableStats],
    words: Words,
    here: Path | None = None,
    *,
    lang: str = "en",
) -> str:
    """The recipe (TOML, with comments in that language). Files that columns name are looked for beside an SQLite file,
    and from `here`; `words` tells the different values of a column."""
    roles = roles_of(schema, stats, _places(address, here or Path.cwd()))
    return _Proposal(address, _Contents(schema, stats, words), roles, lang).text()


def _places(address: Address, here: Path) -> list[Path]:
    """Where files may lie: beside the database, here, and in the folders right below."""
    starts = [address.file.parent, here] if address.family == SQLITE else [here]
    folders: list[Path] = []
    for start in starts:
        folders.append(start)
        try:
            folders.extend(sorted(child for child in start.iterdir() if child.is_dir() and not child.is_symlink())[:50])
        except OSError:
            continue
    return [*folders, Path("/")]


@dataclass(frozen=True, slots=True)
class _Contents:
    """What a database holds: its tables, what a sample of each showed, and the different values of a column."""

    schema: Schema
    stats: Mapping[str, TableStats]
    words: Words


class _Proposal:
    """Fills the tables of a recipe, and the comments above them."""

    def __init__(self, address: Address, contents: _Contents, roles: Roles, lang: str) -> None:
        self._lang = lang
        self._address = address
        self._schema, self._stats, self._words = contents.schema, contents.stats, contents.words
        self._roles = roles
        self._codes: dict[str, dict[str, object]] = {}
        self._open_cases: list[str] = []
        self._comments: dict[Place, str] = {}
        self._maps: list[tuple[dict[str, object], str]] = []
        self._skips: list[tuple[dict[str, object], str]] = []
        self._shown: dict[str, set[str]] = {}
        self._screened = ScreenedRows(self._schema, _AUTHORS)

    def text(self) -> str:
        """The whole recipe."""
        for label in self._schema.tables:
            if label in self._roles.cases:
                self._case(self._schema.tables[label])
        for label in self._roles.documents:
            self._record(self._schema.tables[label])
        for label, table in self._schema.tables.items():
            is_mapped = label in self._roles.cases or label in self._roles.documents
            if not table.is_view and not is_mapped and self._stats[label].readable:
                self._map_other(table)
        return render(self._data(), self._comments)

    def _data(self) -> dict[str, object]:
        name = f"{self._address.name} ({self._address.family})"
        data: dict[str, object] = {
            "source": self._source(),
            "target": {
                "external_system": name,
                "model": 3 if self._roles.cases else 2,
                "zone": "Europe/Oslo",
                "close": True,
                "arkivskaper": {"fields": {"arkivskaperIdent": "ukjent", "arkivskaperNavn": "Ukjent"}},
                "arkiv": {"fields": {"tittel": self._address.name}},
                "arkivdel": {"mode": "find-or-create", "fields": {"tittel": self._address.name}},
            },
            "dates": self._dates(),
            "personal_data": {"identity_numbers": "report"},
            "formats": {"decimal": ".", "thousands": ""},
        }
        if self._roles.cases:
            data["defaults"] = {_CASE: {"administrativEnhet": USUAL_UNIT}}
            self._comments["defaults",] = self._say("db-unit")
        if self._codes:
            data["codes"] = self._codes
            self._comments["codes",] = self._say("db-codes")
        if self._skips:
            data["skip"] = [skip for skip, _ in self._skips]
            for at, (_, text) in enumerate(self._skips):
                self._comments["skip", at] = text
        data["map"] = [rule for rule, _ in self._maps]
        for at, (_, text) in enumerate(self._maps):
            self._comments["map", at] = text
        self._comments |= {
            (): self._head(),
            ("target",): self._say("db-system"),
            ("target", "arkivskaper"): self._say("arkivskaper"),
            ("target", "arkivdel"): self._say("arkivdel"),
            ("dates",): self._say("dates-of-records"),
            ("personal_data",): self._personal(),
            ("formats",): self._say("db-formats"),
        }
        return data

    def _dates(self) -> dict[str, object]:
        """What of the dates is told by others; whether cases that are open are closed is for a person to say."""
        if not self._open_cases:
            return {"case": "span"}
        names = self._say("open-first", **first_names(self._open_cases))
        self._comments["dates", "open"] = f"{self._say('open-cases', count=len(self._open_cases))}\n{names}"
        return {"case": "span", "open": ASK}

    def _head(self) -> str:
        tables = [label for label, table in self._schema.tables.items() if not table.is_view]
        views = [label for label, table in self._schema.tables.items() if table.is_view]
        rows = sum(self._stats[label].rows for label in tables)
        lines = [self._say("db-head", tables=len(tables), rows=rows)]
        if views:
            lines += ["", self._say("db-views", names=", ".join(views))]
        unreadable = [label for label, stats in self._stats.items() if not stats.readable]
        if unreadable:
            lines += ["", self._say("db-unreadable", names=", ".join(unreadable))]
        return "\n".join(lines)

    def _source(self) -> dict[str, object]:
        # what something hangs under comes before it, also where foreign keys lead in circles
        first = [label for label in self._schema.tables if label in self._roles.cases]
        tables = dict.fromkeys((*first, *self._roles.documents, *self._schema.tables))
        readable = tuple(
            label for label in tables if not self._schema.tables[label].is_view and self._stats[label].readable
        )
        documents = self._roles.documents
        source: dict[str, object] = {
            "kind": "database",
            **DatabaseSettings(
                tables=readable, base=self._roles.base, documents=documents, text_without=self._screened.text_without()
            ).settings(),
        }
        self._comments["source", "text_without"] = self._say("db-text-without")
        self._comments["source", "tables"] = self._say("db-tables")
        if self._roles.base:
            self._comments["source", "base"] = self._say("db-base")
        lines = [self._say("db-documents")]
        lines += [
            self._say("db-guessed", name=f"{label}.{column.column}")
            for label, guessed in self._roles.guessed.items()
            for column in guessed
        ]
        self._comments["source", "documents"] = "\n".join(lines)
        return source

    def _personal(self) -> str:
        lines = [self._say("db-personal")]
        descriptions = [
            f"{label}.{column.name} ({kind})"
            for label, table in self._schema.tables.items()
            for column in table.columns
            if (kind := personal_data_kind(column, self._stats[label].columns.get(column.name)))
        ]
        if descriptions:
            lines.append(self._say("db-personal-columns"))
            lines += [f"  {description}" for description in descriptions[:60]]
        return "\n".join(lines)

    def _case(self, table: Table) -> None:
        proposed = case_fields(table, self._stats[table.label], self._words)
        self._open_cases += proposed.open_cases
        fields = self._fields(table, _CASE) | proposed.fields | self._case_number(table)
        rule: dict[str, object] = {"for": table.label, "type": _CASE}
        owner = self._related_name(table, _AUTHORS)
        if owner:
            fields["saksansvarlig"] = f"= {owner} | default(none)"
        self._labels(table, rule)
        rule["fields"] = fields
        parties = list(self._parties(table, "sakspart"))
        if parties:
            rule["parties"] = parties
        self._take(rule, table, self._say("db-case"), proposed)
        self._see_screening(table, proposed)

    def _case_number(self, table: Table) -> dict[str, object]:
        """The year and the number of a case, where a unique key is made of these two and of nothing else."""
        for key in (table.primary_key, *table.uniques):
            years = [name for name in key if _YEARS.fullmatch(name)]
            if len(key) == 2 and len(years) == 1 and all(table.column(name).kind is Kind.INTEGER for name in key):
                year, number = years[0], next(name for name in key if name != years[0])
                whole_number = f"if {self._column(year)} > 1000 else none"  # of two figures nobody knows the century
                return {
                    "saksaar": f"= {self._column(year)} {whole_number}",
                    "sakssekvensnummer": f"= {self._column(number)} {whole_number}",
                }
        return {}

    def _record(self, table: Table) -> None:
        route = self._roles.parents.get(table.label)
        of_case = route[0] if route is not None and len(route) == 1 else ""
        proposed = document_fields(table, self._stats[table.label], self._words, of_case)
        fields = self._fields(table, _RECORD) | proposed.fields
        author = self._related_name(table, _AUTHORS) or self._column(find_column(table, _AUTHORS, Kind.TEXT))
        if author:
            fields["forfatter"] = f"= {author} | default(none)"
        file_names = (document.name for document in self._roles.documents[table.label])
        self._see_screening(table, proposed, *file_names)
        rule: dict[str, object] = {"for": table.label, "type": _RECORD}
        self._labels(table, rule)
        rule["fields"] = without(fields, *_OF_POSTS)
        parties = [
            *proposed.parties,
            *self._parties(table, "korrespondansepart", proposed.post, bool(proposed.parties)),
        ]
        if parties:
            rule["parties"] = [*proposed.record_parties, *self._parties(table, "korrespondansepart")]
        what = self._say("db-record")
        if route is None:
            self._take({**rule, "parents": [folder_of(table)]}, table, what, proposed)
            return
        above = _path(*route)
        parent = {"parent": {"key": f"= {above}.row_key", "type": _CASE}}
        if proposed.post:
            post = {
                **rule,
                "type": _POST,
                "when": f"= {condition_of(above, _path(proposed.direction_column))}",
                **parent,
            }
            post |= {"fields": fields, "parties": [*parties, unnamed_party(parties)] if parties else []}
            self._take(tables_last({k: v for k, v in post.items() if v != []}), table, self._say("db-post"), proposed)
        inside = {"for": rule["for"], "when": f"= {above} | default(none)", **without(rule, "for"), **parent}
        self._take(tables_last(inside), table, what, ProposedFields() if proposed.post else proposed)
        outside = {**rule, "parents": [folder_of(table)]}
        self._maps.append((tables_last(outside), self._say("db-outside", table=table.label)))

    def _take(self, rule: dict[str, object], table: Table, what: str, proposed: ProposedFields) -> None:
        """Keeps a rule, its codes, and what is to be said of it."""
        for column, codes in proposed.codes.items():
            self._codes.setdefault(column, {}).update(codes)
            key = "screening-codes" if column == proposed.screening_column else "direction-codes"
            self._comments["codes", column] = self._say(key, codes=", ".join(USUAL_SCREENING))
        lines = [self._table_comment(table, what)]
        lines += [
            self._say("db-doubt", column=f"{table.label}.{column}", look=self._say(f"looks-{look}"))
            for column, look in proposed.doubts.items()
        ]
        if proposed.doubted_lines and proposed.number is not None:
            number = proposed.number
            asks = self._say("db-number-asks", column=number.column, matching=number.matching, rows=number.rows)
            self._comments["map", len(self._maps), "fields", "tittel"] = "\n".join([asks, *proposed.doubted_lines])
        self._maps.append((rule, "\n".join(lines)))

    def _map_other(self, table: Table) -> None:
        label = table.label
        if label in self._roles.links and label in self._shown:
            self._skips.append(
                (
                    {"for": label, "reason": "binds rows together, and stands in what it binds"},
                    self._say("db-link", table=label),
                )
            )
            return
        refers = self._parent_relation(table)
        if refers is not None:
            relation, kind = refers
            note: dict[str, object] = {
                "for": label,
                "when": f"= {_path(relation.name)} | default(none)",
                "type": "Merknad",
                "parent": {"key": f"= {_path(relation.name)}.row_key", "type": kind},
                "fields": {"tekst": "= record.row_text", "merknadstype": "MER"},
            }
            self._maps.append((note, self._table_comment(table, self._say("db-note", kind=kind))))
        elif label in self._shown and self._is_covered(table):
            reason = "its values stand in the case files and records that refer to it"
            skip: dict[str, object] = {"for": label, "when": "= record.row_used", "reason": reason}
            self._skips.append((skip, self._say("db-covered", table=label)))
        fields = {**self._fields(table, _RECORD)}
        if label in self._roles.persons and (screening := self._screened.by_references(table)):
            fields["skjerming"] = screening
            self._see_screening(table, ProposedFields())
        rule: dict[str, object] = {"for": label, "type": _RECORD, "fields": fields, "parents": [folder_of(table)]}
        self._maps.append((rule, self._table_comment(table, self._say("db-other"))))

    def _parent_relation(self, table: Table) -> tuple[Relation, str] | None:
        """The case file or record that rows of a table tell more of."""
        if table.label in self._shown:
            return None
        for relation in table.relations:
            if relation.table.label in self._roles.documents:
                return relation, _RECORD
        for relation in table.relations:
            if relation.table.label in self._roles.cases:
                return relation, _CASE
        return None

    def _fields(self, table: Table, kind: str) -> dict[str, object]:
        name = title_column(table) or display_column(table)
        fields: dict[str, object] = {
            "tittel": f"= {self._column(name)} | default(key){self._clip(table, name)}" if name else "= key",
            "beskrivelse": "= record.row_text",
        }
        day = find_column(table, _DATE_NAMES, *_DATES) or next(
            (c.name for c in table.columns if c.kind in _DATES), None
        )
        if day:
            fields["saksdato" if kind == _CASE else "dokumentetsDato"] = usual_day(self._column(day))
        creator = self._related_name(table, _CREATORS) or self._column(find_column(table, _CREATORS, Kind.TEXT))
        if creator:
            fields["opprettetAv"] = f"= {creator} | default(none)"
        return fields

    def _clip(self, table: Table, name: str) -> str:
        return "" if (table.column(name).size or _LONGEST_TITLE + 1) <= _LONGEST_TITLE else f" | clip({_LONGEST_TITLE})"

    def _see_screening(self, table: Table, proposed: ProposedFields, *file_names: str) -> None:
        """Notes the columns with fields of their own. A title that is too long for its field stays in the text, too."""
        name = title_column(table) or display_column(table) or ""
        column = self._stats[table.label].columns.get(name)
        title = name if column is not None and column.longest <= _LONGEST_TITLE else ""
        self._screened.see(table, (title, *proposed.party_columns, *file_names), proposed.screening_column)

    def _labels(self, table: Table, rule: dict[str, object]) -> None:
        """Keywords: what codes a row has, also by way of a table that binds rows together."""
        words = []
        for relation in table.relations:
            target = self._schema.tables.get(relation.table.label)
            if target is not None and target.label in self._roles.codes:
                words.append(f"= {_path(relation.name, display_column(target))} | default(none)")
                self._remember_shown(target, display_column(target))
        for link, name, relation in self._links(table):
            target = self._schema.tables[relation.table.label]
            if target.label in self._roles.codes:
                rows = f"{_path(name)} | pluck('{_quoted(relation.name)}')"
                words.append(f"= {rows} | compact | pluck('{_quoted(display_column(target) or '')}')")
                self._remember_shown(target, display_column(target))
                self._remember_shown(link)
        if words:
            rule["keywords"] = words

    def _links(self, table: Table) -> Iterator[tuple[Table, str, Relation]]:
        """Tables that bind rows of this one to others: the table, what a row calls it, and its other relation."""
        referring = list(self._schema.referring(table.name))
        for link, back in referring:
            if link.label not in self._roles.links:
                continue
            for relation in link.relations:
                if relation != back:
                    yield link, child_name(table, link, back, [child for child, _ in referring]), relation

    def _parties(self, table: Table, kind: str, post: str = "", are_named: bool = False) -> Iterator[dict[str, object]]:
        for relation in table.relations:
            target = self._schema.tables.get(relation.table.label)
            if target is None or target.label not in self._roles.persons or re.search(_AUTHORS, relation.name):
                continue
            fields = self._party(target, _path(relation.name), kind)
            role = correspondent_role(relation.name) or ("" if are_named else self._only_role(table, relation, post))
            if kind == "korrespondansepart" and role:
                fields["korrespondanseparttype"] = party_role(role, post)
            yield {"when": f"= {_path(relation.name)} | default(none)", "fields": fields}
        for link, name, relation in self._links(table):
            target = self._schema.tables[relation.table.label]
            if target.label in self._roles.persons:
                self._remember_shown(link)
                who = _path(relation.name).replace("record", "item", 1)
                yield {"each": f"= {_path(name)}", "when": f"= {who}", "fields": self._party(target, who, kind)}

    def _only_role(self, table: Table, relation: Relation, post: str) -> str:
        """Whoever a post is from or to is the only person that it refers to, where its columns name nobody."""
        persons = [
            one
            for one in table.relations
            if one.table.label in self._roles.persons and not re.search(_AUTHORS, one.name)
        ]
        return "motpart" if post and persons == [relation] else ""

    def _party(self, person: Table, who: str, kind: str) -> dict[str, object]:
        def of(column: str | None) -> str:
            return f"{who}{_path(column).removeprefix('record')}"

        fields: dict[str, object] = {f"{kind}Navn": f"= {of(display_column(person))} | default('ukjent')"}
        self._remember_shown(person, display_column(person))
        if kind == "sakspart":
            fields["sakspartIdent"] = f"= {who}.row_key"
            fields["sakspartRolle"] = _ROLE
        else:
            fields["korrespondanseparttype"] = "IA"
        for field, pattern in PARTY_FIELDS:
            column = find_column(person, pattern)
            if column:
                fields[field] = f"= {of(column)} | default(none)"
                self._remember_shown(person, column)
        return fields

    def _related_name(self, table: Table, pattern: str) -> str | None:
        """What a relation with such a name leads to, by what it is called there."""
        for relation in table.relations:
            target = self._schema.tables.get(relation.table.label)
            if target is None or not re.search(pattern, relation.name, re.IGNORECASE):
                continue
            name = display_column(target)
            if name:
                self._remember_shown(target, name)
                return _path(relation.name, name)
        return None

    def _remember_shown(self, table: Table, column: str | None = None) -> None:
        """Remembers that values of a table stand in what refers to it."""
        self._shown.setdefault(table.label, set()).update({column} if column else ())

    def _is_covered(self, table: Table) -> bool:
        """True if all that a row holds stands in what refers to it."""
        return {column.name for column in table.columns} <= {*table.key, *self._shown[table.label]}

    def _say(self, key: str, **data: object) -> str:
        return comment(self._lang, key, **data)

    def _column(self, name: str | None) -> str | None:
        return None if name is None else _path(name)

    def _table_comment(self, table: Table, what: str) -> str:
        stats = self._stats[table.label]
        first, *more = what.split("\n")  # what stands for a value has one line
        head = self._say("db-about" if stats.about else "db-rows", table=table.label, rows=stats.rows, text=first)
        lines = [head, *more]
        line = self._say("columns")
        for column in table.columns[:80]:
            text = f" {plain(column.name)} ({column.declared_type or column.kind})"
            if len(line) + len(text) > 110:
                lines.append(line)
                line = " "
            line += text
        lines.append(line)
        if table.relations:
            relations = ", ".join(f"{relation.name} ({relation.table.label})" for relation in table.relations)
            lines.append(self._say("db-leads", names=relations))
        return "\n".join(lines)

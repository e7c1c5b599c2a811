"""Files joined with a register that lies among them or in a database: each learns its row, or that of its case file,
and what is left over on either side is counted. Rows without a folder become cases without documents where a recipe
says so.

    record.case.row.tittel      what a register of cases says of the case file that a file lies in
    record.register.Dato        what a register of documents says of the file
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from noarkit.graph.entity import Skipped
from noarkit.recipes.recipe_model import RegisterRules
from noarkit.records import Oddity, RegisterAccount, SourceItem, SourceRecord
from noarkit.safe import folder_handles
from noarkit.sources.files import folders, policy
from noarkit.sources.files.case_names import PROPERTIES, CaseForm, read_form
from noarkit.sources.files.names import key_of
from noarkit.sources.files.policy import FilePolicy
from noarkit.sources.files.property_numbers import read_properties
from noarkit.sources.files.register import tables
from noarkit.sources.files.register.cases import MOST_LISTED, PROPERTY, TITLE, CaseRegister, RegisterRow
from noarkit.sources.files.register.database_table import table_rows
from noarkit.sources.files.register.rows import Register, extension_of, malformed, read_register
from noarkit.sources.files.streams import WITHIN

_FILES = ("file", "mail")


class JoinedCases:
    """What the files of one walk become with the rows of a register of cases."""

    def __init__(self, register: CaseRegister, register_key: str, file_policy: FilePolicy, root_name: str) -> None:
        self._register = register
        self._key = register_key
        self._rules = file_policy.register
        self._level = file_policy.case_level
        self._root_name = root_name
        self._places: dict[object, Counter[tuple[str, ...]]] = {}
        self.close = register.close
        self.account = register.account

    def items(self, items: Iterator[SourceItem]) -> Iterator[SourceItem]:
        """The items with their rows, and at the end those rows that become cases of their own."""
        for item in items:
            yield self._with_row(item) if isinstance(item, SourceRecord) else item
        self._register.settle()
        if self._rules.no_folder == "make":
            yield from map(self._case, self._register.unjoined())

    def _with_row(self, record: SourceRecord) -> SourceItem:
        if record.key == self._key and not self._rules.keep:
            return Skipped(record.key, policy.SKIPPED_REGISTER)
        steps, case = record.fields["folders"], record.fields["case"]
        if not isinstance(steps, list) or not isinstance(case, Mapping) or not 0 < self._level <= len(steps):
            return record
        name = steps[self._level - 1]
        row = self._register.join(
            "/".join(steps[: self._level]), str(case.get("ident") or ""), str(case.get("title") or name)
        )
        if not row and self._rules.no_row == "leave-out":
            return Skipped(record.key, policy.SKIPPED_NO_ROW)
        number = None if case else self._register.number_of(row)
        fields = number.fields(name) if number else case
        if row:
            self._places.setdefault(fields.get("year"), Counter())[tuple(steps[: self._level - 1])] += 1
        return replace(record, fields={**record.fields, "case": {**_with_properties(fields, row), "row": row}})

    def _case(self, row: RegisterRow) -> SourceRecord:
        """The record of a case without a folder; it lies where the other cases of its year do."""
        title = str(row.row.get(TITLE) or row.name)
        name = f"{row.case.year}-{row.case.number} {title}".strip() if row.case else title
        places = self._places.get(row.case.year if row.case else None) or Counter([()])
        steps = list(places.most_common(1)[0][0])
        fields: dict[str, object] = {
            **{"path": "/".join([*steps, name]), "parts": [*steps, name], "folder": "/".join(steps)},
            **{"folders": steps, "top": steps[0] if steps else "", "root": self._root_name},
            **{"name": name, "stem": name, "ext": "", "depth": len(steps), "register": row.row, "mail": {}},
            "case": {
                **_with_properties(row.case.fields(title) if row.case else {"title": title}, row.row),
                "row": row.row,
            },
            **dict.fromkeys(("size", "modified", "created", "owner", "group", "mode", "media_type", "puid", "saved")),
        }
        return SourceRecord("case", f"{self._key}{WITHIN}{row.case.ident if row.case else row.name}", fields)


def _with_properties(fields: Mapping[str, object], row: Mapping[str, object]) -> dict[str, object]:
    """What is known of a case, with the properties of its row where its name tells none."""
    numbers = () if fields.get(PROPERTIES) else read_properties(str(row.get(PROPERTY) or ""))
    return {**fields, PROPERTIES: [number.fields() for number in numbers]} if numbers else dict(fields)


class JoinedDocuments:
    """What the files of one walk become with the rows of a register of documents."""

    def __init__(self, register: Register, register_key: str, rules: RegisterRules) -> None:
        self._register = register
        self._key = register_key
        self._folder = register_key.rpartition("/")[0]
        self._rules = rules
        self._places_left = 0
        self.close = register.close
        self._oddities: list[Oddity] = []

    def items(self, items: Iterator[SourceItem]) -> Iterator[SourceItem]:
        """The items with their rows as `record.register`."""
        for item in items:
            yield self._with_row(item) if isinstance(item, SourceRecord) and item.kind in _FILES else item
        for entry in self._register.unused():
            self._note(Oddity("row-left", entry.number + 1, in_register=entry.path))

    def account(self) -> RegisterAccount:
        """What was joined, and what was left over."""
        rows, rows_left = self._register.rows, sum(1 for _ in self._register.unused())
        return RegisterAccount(
            is_of="document",
            rows=rows,
            by_name=rows - rows_left,
            rows_left=rows_left,
            places_left=self._places_left,
            oddities=tuple(self._oddities),
        )

    def _with_row(self, record: SourceRecord) -> SourceItem:
        path = str(record.fields["path"])
        if record.key == self._key:
            return record if self._rules.keep else Skipped(record.key, policy.SKIPPED_REGISTER)
        within = path.removeprefix(f"{self._folder}/") if self._folder else path
        row, notes = self._register.look_up(within, str(record.fields["name"]))
        if row:
            named_cells = {name: row.get(column) for name, column in self._rules.columns.items()}
            fields = {**record.fields, "register": {**row, **named_cells}}
            return replace(record, fields=fields, notes=(*record.notes, *notes))
        self._places_left += 1
        self._note(Oddity("place-left", None, path))
        return record

    def _note(self, oddity: Oddity) -> None:
        if len(self._oddities) < MOST_LISTED:
            self._oddities.append(oddity)


def joined_register(root: int, file_policy: FilePolicy, root_name: str) -> JoinedCases | JoinedDocuments:
    """What joins the files below an open root with the register that the policy names; to be closed. Raises a
    `SourceFault`."""
    rules = file_policy.register
    if rules.database:
        return _joined_table(file_policy, root_name)
    *steps, name = rules.file.encode("utf-8", "surrogateescape").split(b"/")
    key = "/".join(map(key_of, (*steps, name)))
    with folders.faults(key):
        parent = folders.reach(root, steps)
    try:
        with folders.faults(key), os.fdopen(folders.open_file(name, parent, key=key), "rb") as file:
            if not rules.of_cases:
                register = read_register(file, where=key, column=rules.column, sheet=rules.sheet)
                return JoinedDocuments(register, key, rules)
            with malformed(key):
                rows = tables.numbered_rows(tables.rows_of(file, extension_of(key), rules.sheet))
                return JoinedCases(CaseRegister(rows, rules, _form(file_policy)), key, file_policy, root_name)
    finally:
        folder_handles.close(parent)


def _joined_table(file_policy: FilePolicy, root_name: str) -> JoinedCases | JoinedDocuments:
    rules = file_policy.register
    rows = table_rows(rules.database)
    if not rules.of_cases:
        register = Register((row for _, row in rows), where=rules.database, column=rules.column)
        return JoinedDocuments(register, "", rules)
    return JoinedCases(CaseRegister(rows, rules, _form(file_policy)), rules.database, file_policy, root_name)


def _form(file_policy: FilePolicy) -> CaseForm | None:
    return read_form(file_policy.case_name) if file_policy.case_name else None

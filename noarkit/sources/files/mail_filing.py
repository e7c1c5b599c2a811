"""Mails outside the case files, filed by the case number in their subject.

    filing = MailFiling(root, policy)
    filing.items(records)     each mail whose subject names one case of the tree lies in its folder from then on
    filing.account()          how many were filed, and which were not, with the reason

A number counts if a folder of the tree bears it. A subject with two of them, or with one that two folders bear, decides
nothing: the mail stays where it lies, and whoever reads the account decides. What a mail in a case file says of others
does not move it; nor does a single mail move that somebody laid into a folder of the level of the case files.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Literal

from noarkit.records import MailAccount, SourceItem, SourceRecord, UnfiledMail
from noarkit.safe.scratch import scratch
from noarkit.sources.files.case_names import CaseForm, numbers_named, read_form
from noarkit.sources.files.names import text_of
from noarkit.sources.files.owners import mailbox_fields
from noarkit.sources.files.policy import FilePolicy
from noarkit.sources.files.streams import WITHIN

ENDINGS = (".mbox", ".mbx")
"""Of files that may be mailboxes, by their names."""
MOST_LISTED = 10_000
_MOST_MESSAGES = 5_000
_LEAST_MESSAGES = 3
_LEAST_SHARE = 0.25
_ADD = "INSERT INTO folders VALUES (?, ?, 1) ON CONFLICT (ident) DO UPDATE SET times = times + 1"

Outcome = Literal["by_number", "no_number", "unknown", "several"]


class CaseFolders:
    """The case folders of a tree by their numbers."""

    def __init__(self, root: Path, level: int, form: CaseForm, exceptions: Iterable[str] = ()) -> None:
        self.form = form
        self._db = scratch()
        self._db.execute("CREATE TABLE folders (ident TEXT PRIMARY KEY, place TEXT, times INTEGER)")
        self._db.execute("BEGIN")
        left_out = frozenset(exceptions)
        for place in _folders(root, level):
            case = None if place[-1] in left_out else form.parse(place[-1])
            if case is not None:
                self._db.execute(_ADD, (case.ident, json.dumps(place)))
        self._db.execute("COMMIT")

    def close(self) -> None:
        """Forgets the folders."""
        self._db.close()

    def find(self, subject: str) -> tuple[Outcome, list[str], tuple[str, ...]]:
        """What a subject says: how it ends, the place of the folder, and the numbers that decided nothing."""
        numbers = numbers_named(subject, self.form)
        hits = [
            (ident, json.loads(place), times)
            for ident in numbers
            for place, times in self._db.execute("SELECT place, times FROM folders WHERE ident = ?", (ident,))
        ]
        if not hits:
            return ("unknown" if numbers else "no_number"), [], numbers
        if len(hits) > 1 or hits[0][2] > 1:
            return "several", [], tuple(ident for ident, *_ in hits)
        return "by_number", hits[0][1], ()


class MailFiling:
    """Files the mails of one walk. The folders are looked at when the first mail asks for them."""

    def __init__(self, root: Path, file_policy: FilePolicy) -> None:
        self._root = root
        self._policy = file_policy
        self._form = read_form(file_policy.case_name)
        self._folders: CaseFolders | None = None
        self._counts: Counter[str] = Counter()
        self._unfiled: list[UnfiledMail] = []

    def close(self) -> None:
        """Forgets the folders."""
        if self._folders is not None:
            self._folders.close()

    def items(self, items: Iterable[SourceItem]) -> Iterator[SourceItem]:
        """The items, each mail that names a case in the folder of that case."""
        for item in items:
            yield self._filed(item) if isinstance(item, SourceRecord) and self._is_loose(item) else item

    def account(self) -> MailAccount:
        """How the mails were filed."""
        return MailAccount(sum(self._counts.values()), **self._counts, unfiled=tuple(self._unfiled))

    def _is_loose(self, record: SourceRecord) -> bool:
        """True for a mail that lies in no case file; a single mail must lie above their level, too."""
        if record.kind != "mail" or record.fields["case"]:
            return False
        steps = record.fields["folders"]
        return WITHIN in record.key or (isinstance(steps, list) and len(steps) < self._policy.case_level)

    def _filed(self, record: SourceRecord) -> SourceRecord:
        if self._folders is None:
            policy = self._policy
            self._folders = CaseFolders(self._root, policy.case_level, self._form, policy.case_exceptions)
        outcome, place, numbers = self._folders.find(_subject(record.fields.get("mail")))
        self._counts[outcome] += 1
        if outcome != "by_number":
            if len(self._unfiled) < MOST_LISTED:
                self._unfiled.append(UnfiledMail(outcome, record.key, ", ".join(numbers)))
            return record
        case = self._form.parse(place[-1])
        fields = {"folders": place, "top": place[0], "case": case.fields(place[-1]) if case else {}}
        return replace(record, fields={**record.fields, **fields})


@dataclass(frozen=True, slots=True)
class MailEvidence:
    """What the subjects of the mails in some mailboxes say: how many mails were looked at, and how many name one case
    of the tree. `asks` if somebody should say whether they are filed by that."""

    mailboxes: int
    messages: int
    by_number: int
    asks: bool


def mail_evidence(
    root: Path, mailboxes: Iterable[Path], level: int, form: CaseForm, *, asks: bool
) -> MailEvidence | None:
    """Reads the subjects of the first mails; None where hardly any names a case. `asks`: the form is in doubt."""
    folders, counts, count = CaseFolders(root, level, form), Counter[str](), 0
    try:
        for path in mailboxes:
            mails = islice(mailbox_fields(path), _MOST_MESSAGES - counts.total())
            outcomes = Counter(folders.find(_subject(fields))[0] for fields in mails)
            count += bool(outcomes)
            counts += outcomes
    finally:
        folders.close()
    messages, by_number = counts.total(), counts["by_number"]
    if by_number < _LEAST_MESSAGES:
        return None
    return MailEvidence(count, messages, by_number, asks or by_number < _LEAST_SHARE * messages)


def _subject(fields: object) -> str:
    return str(fields.get("subject") or "") if isinstance(fields, Mapping) else ""


def _folders(root: Path, level: int) -> Iterator[list[str]]:
    """The folders of a level by the names on the way to them, in the order of their bytes. No link is followed."""
    waiting: list[tuple[list[str], str]] = [([], os.fspath(root))]
    while waiting:
        steps, place = waiting.pop()
        if len(steps) == level:
            yield steps
            continue
        try:
            with os.scandir(place) as entries:
                names = sorted((entry.name for entry in entries if entry.is_dir(follow_symlinks=False)), reverse=True)
        except OSError:
            continue  # whoever reads the source says that it cannot be read
        waiting += [([*steps, text_of(os.fsencode(name))], os.path.join(place, name)) for name in names]  # noqa: PTH118  # a path of the system's own

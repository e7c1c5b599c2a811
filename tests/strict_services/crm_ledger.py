"""What an archive must hold of a CRM: all that was ever visible when a run read it, once, under the right case file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from email import message_from_bytes
from email.policy import default
from urllib.parse import quote

from tests.strict_services.content import ArchivedRecord
from tests.strict_services.crm import Crm
from tests.strict_services.crm_data import Record

_CASES = ("Deals", "Cases")
_RELATED = {"Quotes": "Deal_Name", "Tasks": "What_Id"}


@dataclass(frozen=True, slots=True)
class Expected:
    """A record that must be there: the case file it lies in, and the states that it was seen in, oldest first."""

    case: str
    states: tuple[bytes, ...]


@dataclass
class CrmLedger:
    """What runs could see, kept from run to run."""

    crm: Crm
    expected: dict[str, Expected] = field(default_factory=dict)

    @property
    def connection(self) -> str:
        """The connection that is loaded from."""
        return "crm:strict"

    def observe(self) -> None:
        """Takes down all that is visible now, as a run that reads now must archive it."""
        data, org = self.crm.data, self.crm.org_id
        for module in _CASES:
            for case in data.visible(module):
                self._add(f"{org}:{module}:{case.id}:snapshot", case, self._values(case))
                self._hanging(module, case)
        for module, lookup in _RELATED.items():
            for row in data.visible(module):
                target = row.values.get(lookup)
                deal = data.live("Deals", str(target["id"])) if isinstance(target, dict) else None
                if deal is not None:
                    self._add(f"{org}:Deals:{deal.id}:{module}:{row.id}", deal, self._values(row))

    def _hanging(self, module: str, case: Record) -> None:
        data, org = self.crm.data, self.crm.org_id
        for note in data.notes.values():
            if note.parent == case.id:
                self._add(f"{org}:{module}:{case.id}:note:{note.id}", case, (note.content or "").encode())
        for each in data.attachments.values():
            if each.parent == case.id and each.link is None:
                self._add(f"{org}:{module}:{case.id}:att:{each.id}", case, each.content)
        for email in data.emails.values():
            if email.parent == case.id:
                self._add(f"{org}:email:{quote(email.id, safe='')}", case, email.content.encode())

    def _add(self, key: str, case: Record, state: bytes) -> None:
        known = self.expected.get(key)
        states = known.states if known else ()
        if not states or states[-1] != state:
            states = (*states, state)
        self.expected[key] = Expected(case.id, states)

    def _values(self, record: Record) -> bytes:
        """What a record says of itself to this account."""
        shown = {name: value for name, value in self.crm.shown(record).items() if not name.startswith("$")}
        named = {name: value for name, value in shown.items() if value not in (None, [], "")}
        return json.dumps(named, sort_keys=True, ensure_ascii=False).encode()

    def differences(self, archive: Mapping[str, Sequence[ArchivedRecord]]) -> list[str]:
        """All that the archive lacks, holds twice, holds in the wrong place, or holds although it never was there."""
        prefix = f"{self.crm.org_id}:"
        held = {key: found for key, found in archive.items() if key.startswith(prefix)}
        found = [f"missing: {key}" for key in sorted(self.expected.keys() - held.keys())]
        found += [f"never there: {key}" for key in sorted(held.keys() - self.expected.keys())]
        for key in sorted(self.expected.keys() & held.keys()):
            if len(held[key]) != 1:
                found.append(f"{len(held[key])} times: {key}")
            found += _differences(key, self.expected[key], held[key][0])
        return found


def _differences(key: str, expected: Expected, record: ArchivedRecord) -> list[str]:
    found = []
    if not any(each.endswith(f":{expected.case}") for each in record.folder_keys):
        found.append(f"under {record.folder_keys}: {key}")
    if any(len(set(each.versions)) != len(each.versions) for each in record.documents):
        found.append(f"the same version twice: {key}")
    newest = expected.states[-1]
    if not any(_holds(content, newest) for content in record.contents):
        found.append(f"the newest state is not there: {key}")
    for state in expected.states[:-1]:
        if not any(_holds(version, state) for each in record.documents for version in each.versions):
            found.append(f"an earlier state is not there: {key}")
    titles = [each.title for each in record.documents]
    if len(set(titles)) != len(titles):
        found.append(f"two documents are called the same: {key}")
    return found


def _letter(content: bytes) -> bytes:
    body = message_from_bytes(content, policy=default).get_body(("plain", "html"))
    return b"" if body is None else str(body.get_content()).encode()


def _holds(content: bytes, state: bytes) -> bool:
    if state in content or (content.startswith(b"X-Reconstructed:") and state in _letter(content)):
        return True
    try:
        values, wanted = json.loads(content), json.loads(state)
    except ValueError:
        return False
    if not isinstance(values, dict) or not isinstance(wanted, dict):
        return False
    return all(values.get(name) == value for name, value in wanted.items())

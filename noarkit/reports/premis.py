"""The custody chain of every file of a run as PREMIS 3: what was converted and accepted, read, hashed,
identified, uploaded, linked, verified.

Written row by row, so a million files cost no memory. A step that nobody has evidence for is left away. Names of files
that are screened are left away too.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import orjson

from noarkit.catalogue.conversion_steps import ACCEPTED, CONVERTED
from noarkit.catalogue.custody import FileEvidence, RunCustody, SendingTimes
from noarkit.catalogue.port import CustodyStep
from noarkit.forms.metadata.derivations import VALIDATION, acceptance_detail
from noarkit.forms.metadata.model import Event, EventAgent, Identifier
from noarkit.forms.metadata.provenance import MIGRATION, SOFTWARE, event_identifier, software_agent, with_valid_time
from noarkit.loading.attached import open_plan_and_journal
from noarkit.loading.folder import RunFolder
from noarkit.model.conversions import original_key
from noarkit.model.disclosure import screens
from noarkit.model.formats import classify_format
from noarkit.safe import atomic
from noarkit.safe.xml_text import escape_attribute
from noarkit.version import __version__

PREMIS_FILE = "premis.xml"
NAMESPACE = "http://www.loc.gov/premis/v3"
_XSI = "http://www.w3.org/2001/XMLSchema-instance"
_BATCH = 250

# the words of the Library of Congress for kinds of events
_EVENT_TYPES = {
    CONVERTED: MIGRATION,
    ACCEPTED: VALIDATION,
    "read": "capture",
    "hashed": "message digest calculation",
    "identified": "format identification",
    "uploaded": "transfer",
    "linked": "ingestion",
    "verified": "fixity check",
}
_LEFT_OUT = "ingestion"
_SOURCE = (
    "SELECT e.n FROM entity e JOIN content c ON c.entity = e.n WHERE e.bundle = ? AND c.sha256 = ? ORDER BY e.n LIMIT 1"
)

_SCREENED = f"""
CREATE TEMP TABLE screened AS
WITH RECURSIVE below(n, bundle) AS (
  SELECT n, bundle FROM entity WHERE {screens("entity")}
  UNION SELECT e.n, e.bundle FROM below JOIN entity e ON e.parent = below.n)
SELECT DISTINCT bundle FROM below
"""  # noqa: S608  # our own words
_ROWS = """
SELECT e.unit, e.bundle, e.n, c.name, c.size, c.media_type, c.puid, c.sha256, r.state, r.id, r.sha256, l.code,
  json_extract(f.data, '$.theirs'), s.bundle IS NOT NULL, e.key, json_extract(e.fields, '$.formatDetaljer')
FROM content c JOIN entity e ON e.n = c.entity
LEFT JOIN run.entity r ON r.n = e.n
LEFT JOIN run.left_out l ON l.bundle = e.bundle AND e.bundle != 0
LEFT JOIN run.finding f ON f.kind = 'checksum' AND f.entity = e.n AND f.state IN ('open', 'asked')
LEFT JOIN temp.screened s ON s.bundle = e.bundle
ORDER BY e.unit, e.bundle, e.n
"""


class _File(NamedTuple):
    unit: int
    bundle: int
    n: int
    name: str
    size: int | None
    media_type: str | None
    puid: str | None
    planned_sha256: str | None
    state: str | None
    archive_id: str | None
    sent_sha256: str | None
    left_out: str | None
    archive_sha256: str | None
    is_screened: int
    key: str
    format_details: str | None

    @property
    def identifier(self) -> Identifier:
        """What the document calls the file."""
        return "local", f"file-{self.n}"


@dataclass(frozen=True, slots=True)
class _Chain:
    """The run that is told of, and the program that worked on it."""

    plan_sha256: str
    custody: RunCustody
    program: EventAgent


def write_premis(folder: RunFolder) -> Path:
    """Writes premis.xml into the folder of a run, whole or not at all, and returns its path."""
    path = folder.path / PREMIS_FILE
    with atomic.open_atomic(path, mode=0o600) as target:
        for part in premis_of(folder):
            target.write(part)
    return path


def premis_of(folder: RunFolder) -> Iterator[bytes]:
    """The document in parts: the run and its files as objects, what was done to them, and who or what did it."""
    plan = folder.plan()
    with open_plan_and_journal(folder) as db:
        db.execute(_SCREENED)
        db.execute("CREATE INDEX temp.screened_bundle ON screened (bundle)")
        custody = RunCustody(folder, db)
        chain = _Chain(str(plan["sha256"]), custody, software_agent(_program_version(db)))
        yield (
            f'<?xml version="1.0" encoding="UTF-8"?>\n<premis xmlns="{NAMESPACE}" xmlns:xsi="{_XSI}" version="3.0">\n'
            f'<object xsi:type="intellectualEntity">{_identifier("object", ("plan sha256", chain.plan_sha256))}'
            f"</object>\n"
        ).encode()
        yield from _batches(_object(file) for file in _files(db))
        agents = {chain.program.identifier: chain.program}
        yield from _batches(_events(db, chain, agents))
        yield from _batches(map(_agent, agents.values()))
        yield b"</premis>\n"


def _files(db: sqlite3.Connection) -> Iterator[_File]:
    return (_File(*row) for row in db.execute(_ROWS))


def _program_version(db: sqlite3.Connection) -> str:
    """The version that loaded the run; this one where nothing was loaded."""
    row = db.execute("SELECT data FROM run.event WHERE name = 'ingest_began' ORDER BY n DESC LIMIT 1").fetchone()
    return str((orjson.loads(row[0]) if row else {}).get("noarkit") or __version__)


def _batches(parts: Iterator[str]) -> Iterator[bytes]:
    """Many short texts as fewer longer ones."""
    batch: list[str] = []
    for part in parts:
        batch.append(part)
        if len(batch) >= _BATCH:
            yield "".join(batch).encode()
            batch.clear()
    yield "".join(batch).encode()


def _object(file: _File) -> str:
    sha256 = file.sent_sha256 or file.planned_sha256
    fixity = f"<fixity>{_element('messageDigestAlgorithm', 'SHA-256')}{_element('messageDigest', sha256)}</fixity>"
    size = "" if file.size is None else _element("size", str(file.size))
    name = classify_format(file.puid, PurePosixPath(file.name).suffix.lstrip("."), file.media_type).name
    registry = (
        f"<formatRegistry>{_element('formatRegistryName', 'PRONOM')}{_element('formatRegistryKey', file.puid)}"
        "</formatRegistry>"
        if file.puid
        else ""
    )
    there = _identifier("object", ("archive", file.archive_id)) if file.archive_id else ""
    shown_name = "" if file.is_screened else _element("originalName", file.name)
    return (
        f'<object xsi:type="file">{_identifier("object", file.identifier)}{there}<objectCharacteristics>'
        f"{fixity if sha256 else ''}{size}<format><formatDesignation>{_element('formatName', name)}"
        f"</formatDesignation>{registry}</format></objectCharacteristics>{shown_name}</object>\n"
    )


def _events(db: sqlite3.Connection, chain: _Chain, agents: dict[Identifier, EventAgent]) -> Iterator[str]:
    """Every step of every file; who took them is added to `agents`."""
    times = SendingTimes(db)
    for file in _files(db):
        evidence = FileEvidence(
            planned_sha256=file.planned_sha256 or "",
            is_identified=bool(file.media_type or file.puid),
            state=file.state or "",
            sent_sha256=file.sent_sha256 or "",
            archive_sha256=file.archive_sha256 or "",
            sent_at=times.at((file.unit, file.bundle, file.n))[0],
            details=file.format_details or "" if original_key(file.key) is not None else "",
        )
        for step in chain.custody.steps(evidence):
            if step.step in (CONVERTED, ACCEPTED):
                yield _event(_copy_event(chain, file, step, agents, _sources_of(db, file, step)))
            else:
                yield _event(_step_event(chain, file, step, agents))
        if file.left_out:
            identifier = event_identifier(chain.plan_sha256, f"left out {file.n}")
            outcome = (("failure", file.left_out),)
            own = (chain.program.identifier,)
            yield _event(with_valid_time(Event(identifier, _LEFT_OUT, "", "", outcome, own, (file.identifier,))))


def _step_event(chain: _Chain, file: _File, step: CustodyStep, agents: dict[Identifier, EventAgent]) -> Event:
    who = [chain.program.identifier]
    if step.agent:
        person = ("name", step.agent)
        agents.setdefault(person, EventAgent(person, step.agent))
        who.append(person)
    detail = f"sha256 {step.sha256}" if step.sha256 else ""
    if step.step == "identified":
        detail = " ".join(name for name in (file.puid, file.media_type) if name)
    damaged = step.step == "linked" and bool(file.archive_sha256) and file.archive_sha256 != file.sent_sha256
    outcome = (("failure" if damaged else "success", ""),)
    identifier = event_identifier(chain.plan_sha256, f"{step.step} {file.n}")
    kind = _EVENT_TYPES.get(step.step, step.step)
    return with_valid_time(Event(identifier, kind, step.at, detail, outcome, tuple(who), (file.identifier,)))


def _sources_of(db: sqlite3.Connection, file: _File, step: CustodyStep) -> tuple[Identifier, ...]:
    """The file that a copy was made of, which is planned beside it."""
    row = db.execute(_SOURCE, (file.bundle, step.facts.get("source_sha256", ""))).fetchone()
    return () if row is None else (("local", f"file-{row[0]}"),)


def _copy_event(
    chain: _Chain,
    file: _File,
    step: CustodyStep,
    agents: dict[Identifier, EventAgent],
    sources: tuple[Identifier, ...],
) -> Event:
    """The conversion that made a copy, and its acceptance by a person where it was held for that."""
    findings = step.facts.get("findings", "")
    if step.step == CONVERTED:
        facts = step.facts
        detail = (
            f"{facts['from_format']} to {facts['to_format']}, rule {facts.get('rule', '')},"
            f" sha256 {facts['source_sha256']} to {step.sha256}"
        )
        own = [EventAgent((SOFTWARE, name), name, "software") for name in (facts.get("tool", ""), step.agent) if name]
    else:
        detail = acceptance_detail([findings] if findings else ())
        own = [EventAgent(("name", step.agent), step.agent, "person")]
    agents.update((agent.identifier, agent) for agent in own)
    return with_valid_time(
        Event(
            event_identifier(chain.plan_sha256, f"{step.step} {file.n}"),
            _EVENT_TYPES[step.step],
            step.at,
            detail,
            (("success", findings),),
            tuple(dict.fromkeys(agent.identifier for agent in own)),
            (*sources, file.identifier),
        )
    )


def _event(event: Event) -> str:
    detail = (
        f"<eventDetailInformation>{_element('eventDetail', event.detail)}</eventDetailInformation>"
        if event.detail
        else ""
    )
    outcomes = "".join(
        f"<eventOutcomeInformation>{_element('eventOutcome', result)}"
        + (f"<eventOutcomeDetail>{_element('eventOutcomeDetailNote', note)}</eventOutcomeDetail>" if note else "")
        + "</eventOutcomeInformation>"
        for result, note in event.outcomes
    )
    return (
        f"<event>{_identifier('event', event.identifier)}{_element('eventType', event.type)}"
        f"{_element('eventDateTime', event.when)}{detail}{outcomes}"
        + "".join(_identifier("linkingAgent", agent) for agent in event.agents)
        + "".join(_identifier("linkingObject", linked) for linked in event.objects)
        + "</event>\n"
    )


def _agent(agent: EventAgent) -> str:
    elements = (("agentName", agent.name), ("agentType", agent.type), ("agentVersion", agent.version))
    content = "".join(_element(name, text) for name, text in elements if text)
    return f"<agent>{_identifier('agent', agent.identifier)}{content}</agent>\n"


def _identifier(of: str, identifier: Identifier) -> str:
    kind, value = (
        _element(f"{of}Identifier{part}", text) for part, text in zip(("Type", "Value"), identifier, strict=True)
    )
    return f"<{of}Identifier>{kind}{value}</{of}Identifier>"


def _element(name: str, text: str | None) -> str:
    return f"<{name}>{escape_attribute(text or '')}</{name}>"

"""The facts of plan.html: what a plan will do, counted from the frozen graph, one query a table, in constant memory."""

from __future__ import annotations

import hashlib
import sqlite3
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import PurePosixPath

import orjson

from noarkit.catalogue.screening import PlanDisclosures
from noarkit.errors import JournalFault
from noarkit.graph.losses import ElementLosses, carried_values, in_documents, losses, losses_by_element
from noarkit.graph.screened import screened_types, screened_units
from noarkit.graph.store import GraphStore
from noarkit.loading.approval import approvals, standing_approvals
from noarkit.loading.earlier_runs import meeting_of
from noarkit.loading.folder import RunFolder
from noarkit.loading.plan import DATE_EVIDENCE, MAIL, NO_EVIDENCE, REGISTER
from noarkit.loading.source_columns import column_facts
from noarkit.loading.source_values import CARRIED, managed_values
from noarkit.loading.state import read_state
from noarkit.model import metamodel
from noarkit.model.conversions import original_key, parse_details
from noarkit.model.disclosure import (
    MASK,
    Disclosure,
    Fields,
    mask_fields,
    mask_key,
    mask_text,
    public_title,
)
from noarkit.model.formats import APPROVAL_STATUSES, classify_format
from noarkit.model.headings import DAY_FIELDS
from noarkit.recipes import read_recipe
from noarkit.recipes.recipe_model import EVIDENCE
from noarkit.recipes.screening import undecided_kinds
from noarkit.reports.page import MOST_PLACES, imprint_facts, iso
from noarkit.settings import Imprint
from noarkit.sources.files.policy import CODEC, DAMAGED
from noarkit.verdict import names_nobody
from noarkit.version import __version__

PLAN_REPORT_VERSION = 1

ESTIMATE = "estimate.json"

_EXAMPLES = 10
_MOST_ROWS = 60
_MOST_NAMES = 8


@dataclass(frozen=True, slots=True)
class Context:
    """What the plan itself does not hold: the recipe's name, the archive it is meant for, and what was asked of it."""

    recipe: str = ""
    archive: str = ""
    asked: bool = False
    hashed: bool = False
    since: str = ""
    reappeared: tuple[tuple[str, str], ...] = ()
    reappeared_count: int = 0
    hints: int = 0
    drift: tuple[tuple[str, str, str], ...] = ()
    imprint: Imprint | None = None

    def as_data(self) -> dict[str, object]:
        """Plain values, to be read again by `context_of`."""
        return {
            "recipe": self.recipe,
            "archive": self.archive,
            "asked": self.asked,
            "hashed": self.hashed,
            "since": self.since,
            "reappeared": [list(pair) for pair in self.reappeared],
            "reappeared_count": self.reappeared_count,
            "hints": self.hints,
            "drift": [list(change) for change in self.drift],
            "imprint": self.imprint.to_dict() if self.imprint is not None else None,
        }


def context_of(data: object) -> Context:
    """The context that an earlier report holds."""
    if not isinstance(data, dict):
        return Context()
    known_fields = {
        name: data[name]
        for name in ("recipe", "archive", "asked", "hashed", "since", "reappeared_count", "hints")
        if name in data
    }
    return Context(
        **known_fields,
        reappeared=tuple((str(a), str(b)) for a, b in data.get("reappeared", ())),
        drift=tuple((str(a), str(b), str(c)) for a, b, c in data.get("drift", ())),
        imprint=Imprint(**data["imprint"]) if data.get("imprint") else None,
    )


def plan_facts(folder: RunFolder, context: Context) -> dict[str, object]:
    """All that plan.html shows, as plain JSON values."""
    graph = GraphStore.open(folder.graph)
    try:
        db, plan = graph.db, folder.plan()
        disclosures = PlanDisclosures(db)
        recipe = graph.meta("recipe") or ""
        records, meeting = graph.record_counts(), meeting_of(graph)
        return {
            "report": "plan",
            "version": PLAN_REPORT_VERSION,
            "noarkit": __version__,
            "run": folder.name,
            "plan_sha256": plan["sha256"],
            "frozen_at": iso(str(plan.get("frozen_at", 0))),
            "zone": graph.meta("zone") or "UTC",
            "source": {"kind": graph.meta("source_kind"), "where": graph.meta("source_where")},
            "external_system": graph.meta("external_system"),
            "recipe_sha256": hashlib.sha256(recipe.encode()).hexdigest(),
            "approval": approval_facts(folder),
            "loaded": loaded_facts(folder),
            "close": graph.meta("close") == "yes",
            "context": {**context.as_data(), "reappeared": _reappeared(disclosures, context)},
            # when: that is the moment it was frozen
            "imprint": imprint_facts(context.imprint and replace(context.imprint, at="")),
            "records": {name: records.get(name, 0) for name in ("mapped", "already_there", "set_aside", "skipped")},
            "read": sum(records.values()),
            "entities": _entities(db),
            "places": _places(db, disclosures),
            "journal": _journal(db),
            "mail_owner": _mail_owner(graph),
            "years": _years(db),
            **_format_facts(db),
            "faults": _faults(db, disclosures),
            "warnings": _warnings(db, disclosures),
            "not_in_archive": lost_facts(db, disclosures),
            "copies": orjson.loads(graph.meta("copies") or "null"),
            "accepted_loss": orjson.loads(graph.meta("accepted_loss") or "null"),
            "skipped": _skipped(db, disclosures),
            "screening": _screening(db, recipe),
            "identity_numbers": _records_noted(db, "W223"),
            "date_evidence": _date_evidence(graph),
            "source_columns": column_facts(graph),
            "register": _register(graph),
            "mail_filing": _mail_filing(graph),
            "meeting": None if meeting is None else meeting.facts(),
            "todays": [asdict(value) for value in managed_values(db)],
            "carried_values": int(graph.meta(CARRIED) or 0),
            "examples": _examples(db, disclosures),
            "estimate": _estimate(folder),
            "load": {
                "shards": graph.count("shard", "kind = 'unit'"),
                "chunks": graph.count("chunk"),
                "bytes": int(db.execute("SELECT coalesce(sum(size), 0) FROM content").fetchone()[0]),
                "files": graph.count("content"),
            },
        }
    finally:
        graph.close()


def loaded_facts(folder: RunFolder) -> dict[str, object] | None:
    """What became of the plan since: how far the run came, with its numbers; None where nothing was loaded yet."""
    state = read_state(folder)
    if state.stage in ("planned", "sealed"):
        return None
    wrong = len(state.differences)
    return {"stage": state.stage, "archive": state.archive, "numbers": state.numbers.as_data(), "found_wrong": wrong}


def _mail_owner(graph: GraphStore) -> list[str] | None:
    """The domains whose mail it is, as far as the source was told; None where mails are read as files."""
    settings = orjson.loads(graph.meta("source_settings") or "{}")
    return list(settings.get("own_domains", ())) if settings.get("mail", "file") != "file" else None


def _date_evidence(graph: GraphStore) -> list[dict[str, object]]:
    """What the dates of records come from, the best evidence first, and of how many; last those of which none tells."""
    counts = orjson.loads(graph.meta(DATE_EVIDENCE) or "{}")
    names = (name for name in (*EVIDENCE, NO_EVIDENCE) if name in counts)
    return [{"evidence": name, "count": counts[name]} for name in names]


def _register(graph: GraphStore) -> dict[str, object] | None:
    """How the rows of a register were joined, in numbers; None where there is none."""
    account = orjson.loads(graph.meta(REGISTER) or "null")
    return {name: value for name, value in account.items() if name != "oddities"} if account else None


def _mail_filing(graph: GraphStore) -> dict[str, object] | None:
    """How mails were filed by the case numbers in their subjects, in numbers; None where they stay where they lie."""
    account = orjson.loads(graph.meta(MAIL) or "null")
    return {name: value for name, value in account.items() if name != "unfiled"} if account else None


def _estimate(folder: RunFolder) -> object:
    """The latest estimate of the load, None if nobody asked for one."""
    path = folder.path / ESTIMATE
    return orjson.loads(path.read_bytes()) if path.is_file() else None


def approval_facts(folder: RunFolder) -> dict[str, object]:
    """Who approved the plan as it is, when and with which note, or took that back: the oldest first.

    `state` is approved or nobody; damaged where what was written down cannot be read.
    """
    sha256 = str(folder.plan()["sha256"])
    try:
        lines = [approval.to_dict() for approval in approvals(folder) if approval.plan_sha256 == sha256]
        state = "approved" if standing_approvals(folder) else "nobody"
    except JournalFault as fault:  # the page tells it; a load is refused elsewhere
        return {"state": "damaged", "where": str(fault.data["where"]).rpartition("/")[2], "lines": []}
    return {"state": state, "where": "", "lines": [{k: v for k, v in line.items() if k != "plan"} for line in lines]}


def _screening(db: sqlite3.Connection, recipe: str) -> dict[str, object]:
    """How many folders, records and documents are screened, and of which kinds of records nobody decided that."""
    types = screened_types(db)
    return {
        "types": [{"type": entry.type, "count": entry.count, "screened": entry.screened} for entry in types],
        "screened": sum(entry.screened for entry in types),
        "units": screened_units(types),
        "undecided": [kind for kind, _ in undecided_kinds(read_recipe(recipe))] if recipe else [],
    }


def lost_facts(db: sqlite3.Connection, disclosures: PlanDisclosures) -> dict[str, object]:
    """How many values of how many elements the archive has no place for, and the first of each, as people see them; and
    `carried`, the same of those that its business-specific metadata keep, and `in_documents` how many stand in
    documents alone."""
    times = [(value.element, count) for value, count in in_documents(db)]
    return {
        **_element_facts(losses_by_element(losses(db)), disclosures),
        "carried": _element_facts(losses_by_element(carried_values(db)), disclosures),
        "in_documents": {"values": sum(count for _, count in times), "fields": len({name for name, _ in times})},
    }


def _element_facts(losses_: list[ElementLosses], disclosures: PlanDisclosures) -> dict[str, object]:
    for loss in losses_:
        loss.examples = [_masked_example(disclosures.of_key(key), key, value) for key, value in loss.examples]
    return {
        "values": sum(loss.count for loss in losses_),
        "fields": len(losses_),
        "elements": [loss.as_data() for loss in losses_],
    }


def _masked_example(disclosure: Disclosure, key: str, value: str) -> tuple[str, str]:
    return mask_key(key, disclosure), MASK if disclosure.hides_key else mask_text(value)


def _reappeared(disclosures: PlanDisclosures, context: Context) -> list[list[str]]:
    """The keys of records that came back under another, as people see them."""
    pairs = [(disclosures.of_key(new), new, old) for new, old in context.reappeared]
    return [[mask_key(new, disclosure), mask_key(old, disclosure)] for disclosure, new, old in pairs]


def _entities(db: sqlite3.Connection) -> list[dict[str, object]]:
    order = {name: place for place, name in enumerate(metamodel().types)}
    rows = db.execute("SELECT type, count(*), sum(target = 'find') FROM entity GROUP BY type").fetchall()
    rows.sort(key=lambda row: order.get(row[0], len(order)))
    return [{"type": kind, "count": count, "found": in_source} for kind, count, in_source in rows]


def _places(db: sqlite3.Connection, disclosures: PlanDisclosures) -> list[dict[str, object]]:
    """Every fonds, creator and series, with what hangs directly under it."""
    rows = db.execute(
        "SELECT e.n, e.type, e.target, coalesce(json_extract(e.fields, '$.tittel'),"
        " json_extract(e.fields, '$.arkivskaperNavn'), ''), json_extract(e.fields, '$.offentligTittel'),"
        " (SELECT count(*) FROM entity c WHERE c.parent = e.n AND c.unit = c.n)"
        " FROM entity e WHERE e.type IN ('Arkiv', 'Arkivskaper', 'Arkivdel', 'Klassifikasjonssystem') ORDER BY e.n"
    )
    return [
        {
            "type": kind,
            "target": target,
            "title": public_title(title, told, screened=disclosures.of_unit(n).is_screened),
            "holds": child_count,
            "is_unnamed": kind == "Arkivskaper" and names_nobody(title),
        }
        for n, kind, target, title, told, child_count in rows
    ]


def _journal(db: sqlite3.Connection) -> dict[str, int]:
    """Journal posts by the way they went, what is attached to them, and mails that could not be read as such."""
    rows = db.execute(
        "SELECT json_extract(fields, '$.journalposttype'), count(*) FROM entity WHERE type = 'Journalpost' GROUP BY 1"
    )
    kinds = dict(rows.fetchall())
    attached = db.execute(
        "SELECT count(*) FROM entity d JOIN entity p ON p.n = d.parent WHERE d.type = 'Dokument'"
        " AND p.type = 'Journalpost' AND json_extract(d.fields, '$.tilknyttetRegistreringSom') = 'V'"
    ).fetchone()[0]
    came, went = kinds.pop("I", 0), kinds.pop("U", 0)
    return {
        "in": came,
        "out": went,
        "internal": sum(kinds.values()),
        "attachments": attached,
        "unreadable_mails": _records_noted(db, "W217"),
    }


def _years(db: sqlite3.Connection) -> list[dict[str, object]]:
    dates = ", ".join(f"json_extract(e.fields, '$.{name}')" for name in DAY_FIELDS)
    rows = db.execute(
        f"SELECT coalesce(substr(coalesce({dates}), 1, 4),"  # noqa: S608  # our own words
        " (SELECT strftime('%Y', min(c.modified_ns) / 1000000000, 'unixepoch') FROM entity x"
        "  JOIN content c ON c.entity = x.n WHERE x.bundle = e.bundle), '?') AS year, count(*)"
        " FROM record r JOIN entity e ON e.n = r.root GROUP BY year ORDER BY year"
    )
    return [{"year": year, "count": count} for year, count in rows]


_DAMAGED = "damaged"
_STANDING_BY_NOTE = {CODEC.code: "not-approved", DAMAGED.code: _DAMAGED}
"""What a note says of a document whatever its format is."""


def _format_facts(db: sqlite3.Connection) -> dict[str, object]:
    db.create_function("ending", 1, _file_suffix, deterministic=True)
    counts: Counter[tuple[str, str]] = Counter()
    sizes: Counter[tuple[str, str]] = Counter()
    names: dict[tuple[str, str], dict[str, None]] = {}
    rows = db.execute(
        "SELECT puid, ending(name) AS end, media_type, (SELECT max(o.code) FROM entity x JOIN note o"
        " ON o.record = x.record WHERE x.n = content.entity AND o.code IN (SELECT value FROM json_each(?))) AS told,"
        " count(*), coalesce(sum(size), 0) FROM content GROUP BY 1, 2, 3, 4",
        (orjson.dumps(list(_STANDING_BY_NOTE)).decode(),),
    )
    for puid, suffix, media_type, note_code, count, size in rows:
        judgement = classify_format(puid, suffix, media_type)
        kind = _STANDING_BY_NOTE.get(note_code, judgement.status), judgement.name
        counts[kind] += count
        sizes[kind] += size
        known_as = names.setdefault(kind, {})
        known_as.update(dict.fromkeys(name for name in (puid, media_type) if name and name != judgement.name))
    ranked = sorted(counts, key=lambda verdict: (-counts[verdict], verdict))
    formats = [
        {
            "format": name,
            "known_as": sorted(names[verdict, name])[:_MOST_NAMES],
            "standing": verdict,
            "count": counts[verdict, name],
            "bytes": sizes[verdict, name],
        }
        for verdict, name in ranked
    ]
    standings = {
        verdict: sum(counts[key] for key in counts if key[0] == verdict) for verdict in (*APPROVAL_STATUSES, _DAMAGED)
    }
    return {"formats": formats[:_MOST_ROWS], "format_count": len(formats), "standings": standings}


def _file_suffix(name: str) -> str:
    return PurePosixPath(name).suffix.lstrip(".").lower()


def _faults(db: sqlite3.Connection, disclosures: PlanDisclosures) -> list[dict[str, object]]:
    rows = db.execute(
        "SELECT code, count(*) FROM record WHERE state = 'set_aside' GROUP BY code ORDER BY code"
    ).fetchall()
    return [
        {
            "code": code,
            "count": count,
            "places": [
                _shown_place(disclosures, disclosures.of_record(n), key, data)
                for n, key, data in db.execute(
                    "SELECT n, key, data FROM record WHERE state = 'set_aside' AND code = ? ORDER BY n LIMIT ?",
                    (code, MOST_PLACES),
                )
            ],
        }
        for code, count in rows
    ]


def _warnings(db: sqlite3.Connection, disclosures: PlanDisclosures) -> list[dict[str, object]]:
    rows = db.execute(
        "SELECT code, count(DISTINCT coalesce(record, -rowid)) FROM note GROUP BY code ORDER BY code"
    ).fetchall()
    counted_notes = (
        "SELECT r.n, coalesce(r.key, ''), min(n.data) FROM note n LEFT JOIN record r ON r.n = n.record WHERE n.code = ?"
        " GROUP BY r.n LIMIT ?"
    )
    return [
        {
            "code": code,
            "count": count,
            "places": [
                _shown_place(disclosures, disclosures.of_note(n), key, data)
                for n, key, data in db.execute(counted_notes, (code, _EXAMPLES))
            ],
        }
        for code, count in rows
    ]


def _records_noted(db: sqlite3.Connection, code: str) -> int:
    return int(db.execute("SELECT count(DISTINCT record) FROM note WHERE code = ?", (code,)).fetchone()[0])


def _shown_place(disclosures: PlanDisclosures, disclosure: Disclosure, key: str, data: str | None) -> dict[str, object]:
    """A record by its key, with what its fault tells, as people see it."""
    values = disclosures.fault(orjson.loads(data) if data else {}, disclosure)
    return {
        "key": mask_key(key, disclosure),
        **{name: values.get(name) for name in ("why", "type", "field", "line", "what")},
    }


def _skipped(db: sqlite3.Connection, disclosures: PlanDisclosures) -> list[dict[str, object]]:
    rows = db.execute(
        "SELECT json_extract(data, '$.reason') AS reason, count(*) FROM record WHERE state = 'skipped'"
        " GROUP BY reason ORDER BY 2 DESC, reason LIMIT ?",
        (_MOST_ROWS,),
    )
    counts: Counter[object] = Counter()
    for reason, count in rows:
        counts[disclosures.fault({"reason": reason}, disclosures.of_left_out(None))["reason"]] += count
    return [{"reason": reason, "count": count} for reason, count in counts.most_common()]


def _examples(db: sqlite3.Connection, disclosures: PlanDisclosures) -> list[dict[str, object]]:
    """Ten records drawn by a hash of their keys: the same plan shows the same ten, no text of screened ones."""
    db.create_function(
        "lot", 1, lambda key: hashlib.sha256(key.encode("utf-8", "replace")).hexdigest(), deterministic=True
    )
    sample = db.execute(
        "SELECT n, key FROM record WHERE state = 'mapped' AND root IS NOT NULL ORDER BY lot(key), n LIMIT ?",
        (_EXAMPLES,),
    ).fetchall()
    examples: list[dict[str, object]] = []
    for n, key in sorted(sample):
        hides_key = disclosures.of_record(n).hides_key
        entities = list(_record_facts(db, n, disclosures))
        examples.append({"key": None if hides_key else mask_text(key), "entities": entities})
    return examples


def _record_facts(db: sqlite3.Connection, record: int, disclosures: PlanDisclosures) -> Iterator[dict[str, object]]:
    root = db.execute(
        "SELECT e.n, e.bundle FROM record r JOIN entity e ON e.n = r.root WHERE r.n = ?", (record,)
    ).fetchone()
    hides_key = disclosures.of_record(record).hides_key
    depths: dict[int | None, int] = {}
    parent = db.execute("SELECT parent FROM entity WHERE n = ?", (root[0],)).fetchone()[0]
    above = db.execute(
        "SELECT type, json_extract(fields, '$.tittel'), json_extract(fields, '$.offentligTittel') FROM entity"
        " WHERE n = ?",
        (parent or 0,),
    ).fetchone()
    if above:
        kind, title, public = above
        shown_title = public_title(title or "", public, screened=disclosures.of_unit(parent).is_screened)
        yield {"type": kind, "depth": 0, "fields": [["tittel", _or_none(shown_title)]], "file": None, "above": True}
    rows = db.execute(
        "SELECT e.n, e.type, e.parent, e.fields, e.key, c.name, c.size, c.media_type, c.sha256 FROM entity e"
        " LEFT JOIN content c ON c.entity = e.n WHERE e.bundle = ? ORDER BY e.n LIMIT 40",
        (root[1],),
    ).fetchall()
    names = {row[8]: row[5] for row in rows if row[8]}
    bundle = disclosures.of_bundle(root[0])
    for n, kind, mother, fields_text, key, name, size, media_type, _ in rows:
        depths[n] = depths.get(mother, 0) + 1
        fields: Fields = {field: value for field, value in orjson.loads(fields_text).items() if value is not None}
        is_masked = bundle.of_entity(n, mother, kind, fields).is_screened
        file: dict[str, object] | None = None
        if name is not None:
            details = str(fields.get("formatDetaljer") or "")
            conversion = parse_details(details) if original_key(key) else None
            source = names.get(conversion.source_sha256) if conversion is not None and not is_masked else None
            copy = {"is_copy": conversion is not None, "copy_of": source and mask_text(source)}
            copy["is_access"] = conversion is not None and conversion.purpose == "access"
            file = {"name": None if is_masked else mask_text(name), "bytes": size, "media_type": media_type, **copy}
        shown_fields = mask_fields(fields, screened=is_masked, hides_key=hides_key)
        pairs = [[field, _or_none(value)] for field, value in shown_fields.items()]
        yield {"type": kind, "depth": depths[n], "fields": pairs, "file": file, "above": False}


def _or_none(value: object) -> object:
    """A value as it is shown; None for one that is masked."""
    return None if value == MASK else value

"""Compares one object of the archive with its plan: its type, its parent, its links, its fields, its file."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from noarkit.archive.paging import objects
from noarkit.archive.port import Archive
from noarkit.archive.values import Query, SavedObject
from noarkit.graph.store import PlannedEntity
from noarkit.loading.finality import BY_DATE
from noarkit.loading.lookup import objects_of_ids
from noarkit.loading.provenance import MAKER_FIELDS
from noarkit.loading.spans import DERIVED_FIELDS
from noarkit.loading.verification.changes import Change, ChangeLog
from noarkit.loading.verification.expectation import SCREENING, Expectation, Problem, is_empty
from noarkit.loading.verification.ledger import AMISS, AS_PLANNED, CHANGED, UNASKED, ArchivedEntity, Ledger
from noarkit.loading.verification.order import keep_number
from noarkit.loading.verification.other_runs import OtherRuns
from noarkit.loading.verification.outcome import ACCEPTED, FIELDS, LINKS, Finding, VerifyResult
from noarkit.loading.verification.screening import Screening
from noarkit.loading.version_numbers import NUMBERS
from noarkit.model import Field, metamodel

_MOST_KEPT = 1000


@dataclass(slots=True)
class _FieldValues:
    filled_count: int = 0
    empty: int = 0
    empty_places: list[tuple[int, str]] = field(default_factory=list)


@dataclass(slots=True)
class Defaults:
    """What was seen of each field that has a value of its own in the model."""

    _fields: dict[str, _FieldValues] = field(default_factory=dict)

    def keep_default(self, field: Field, n: int, detail: str, *, is_empty: bool) -> None:
        """One object that the run made, where the plan says nothing of the field."""
        is_code = field.code_list is not None and field.default not in (None, "?")
        if is_code or str(field.default).startswith("<"):
            self.keep(field.name, n, detail, is_empty=is_empty)

    def keep(self, name: str, n: int, detail: str, *, is_empty: bool) -> None:
        """One object, with a field that archives fill in by themselves, or not at all."""
        values = self._fields.setdefault(name, _FieldValues())
        if not is_empty:
            values.filled_count += 1
            return
        values.empty += 1
        if len(values.empty_places) < _MOST_KEPT:
            values.empty_places.append((n, detail))

    def judge(self, differs: Callable[[int, str], None]) -> None:
        """Calls with each that is empty although others are filled: its number in the plan, and which field."""
        for values in self._fields.values():
            if values.filled_count:
                for n, detail in values.empty_places:
                    differs(n, detail)


FILE_LINK = "referanseDokumentfil"
"""The field of a version that names its file."""
OF_FIRST_VERSION = frozenset(
    {("Dokument", "opprettetDato"), ("Dokument", "tittel"), ("AbstraktRegistrering", "dokumentetsDato")}
)
"""What is told of a document by its first version, by family and field; the archive keeps it when others are added."""
# what an archive says of every file, or of none
_SAID_OF_FILES = ("filstoerrelse", "filnavn", "sjekksumAlgoritme")
_SHA256_DIGITS = 64
# how long a checksum is, by algorithm
_DIGITS = {"md5": 32, "sha1": 40, "sha224": 56, "sha384": 96, "sha512": 128}


@dataclass(slots=True)
class ObjectComparison:
    """Compares objects with their plans. `with_fields` says whether fields are compared too."""

    ledger: Ledger
    archive: Archive
    expectation: Expectation
    screening: Screening
    log: ChangeLog
    others: OtherRuns
    result: VerifyResult
    with_fields: bool
    with_bytes: bool
    defaults: Defaults = field(default_factory=Defaults)

    def compare(self, place: ArchivedEntity, actual: SavedObject) -> None:
        """Compares one object; does nothing where it was compared before."""
        if place.judgement != UNASKED:
            return
        entity = self.ledger.entity(place.n)
        if actual.type != entity.type:
            detail = f"{entity.type} → {actual.type}"
            self.result.differ(entity.type, "V205", entity.key, detail, actual=fingerprint_of(actual))
            self.ledger.mark(place.n, AMISS)
            self._compare_fields(entity, place, actual)
            return
        judgement = self._compare_place(entity, place, actual)
        self.ledger.mark(place.n, judgement)
        if judgement == AS_PLANNED:
            self.result.agree(entity.type)
        self._compare_links(entity, place, actual)
        self._compare_fields(entity, place, actual)

    def report_missing(self, place: ArchivedEntity) -> None:
        """Reports an object that the journal knows and the archive does not have."""
        entity = self.ledger.entity(place.n)
        removal = self.log.find_removal(place.id)
        # what is gone is never verified, whoever removed it
        detail = f"{entity.type} {place.id}" + (f": removed by {removal}" if removal else "")
        self.result.differ(entity.type, "V204", entity.key, detail)
        self.ledger.mark(place.n, AMISS)
        self.result.leave(FIELDS, "not_there", len(entity.fields) if self.with_fields else 0)

    def report_change(self, row: str, finding: Finding) -> None:
        """Reports another user's change since the load, which is no difference."""
        self.result.changes += 1
        self.result.report_change(row, "changed_since", finding)

    def _compare_place(self, entity: PlannedEntity, place: ArchivedEntity, actual: SavedObject) -> int:
        """Compares the parent of an object with its plan."""
        parent = self.ledger.archived_entity(entity.parent) if entity.parent is not None else None
        link = entity.parent_link
        if parent is None or link is None:
            return AS_PLANNED
        link_target = actual.links.get(link)
        if link_target == parent.id or (link_target is None and not self.is_viewed(entity.type, link)):
            return AS_PLANNED
        change = self.log.find_link_change(place.id, link)
        if change is not None:
            finding = Finding("V501", entity.key, f"{link}: {change}", str(link_target))
            self.report_change(entity.type, finding)
            return CHANGED
        self.result.differ(entity.type, "V206", entity.key, f"{link} {parent.id} → {link_target}")
        return AMISS

    def _compare_links(self, entity: PlannedEntity, place: ArchivedEntity, actual: SavedObject) -> None:
        """Further links to one object; those to many are asked for apart."""
        planned_links = {
            name: target for name, target in self.ledger.links(place.n) if self.is_viewed(entity.type, name)
        }
        for name, target in planned_links.items():
            end = self.ledger.archived_entity(target)
            if end is None:
                self.result.leave(LINKS, "not_there")
            elif actual.links.get(name) == end.id:
                self.result.agree(LINKS)
            else:
                self.report_wrong_link(entity, place, (name, target), f"{end.id} → {actual.links.get(name)}")
        if place.state == "done":
            self._compare_unplanned_links(entity, place, actual, planned_links)

    def _compare_unplanned_links(
        self, entity: PlannedEntity, place: ArchivedEntity, actual: SavedObject, planned_links: Mapping[str, int]
    ) -> None:
        """Links to one that nobody planned, such as a class; the other side of a link may have been planned there."""
        for name, link_target in actual.links.items():
            if name == entity.parent_link or name in planned_links or not self.is_viewed(entity.type, name):
                continue
            reference = metamodel().types[entity.type].references[name]
            if self.ledger.linked_from(place.n, reference.inverse):
                continue
            self.report_wrong_link(entity, place, (name, None), f"- → {link_target}")

    def report_wrong_link(
        self, entity: PlannedEntity, place: ArchivedEntity, link: tuple[str, int | None], detail: str
    ) -> None:
        """A link that is not as planned: not made yet, changed by another user, or wrong."""
        name, target = link
        reason = self.ledger.reason_link_missing(place.n, name, target) if target is not None else ""
        change = self.log.find_link_change(place.id, name)
        if reason:
            self.result.leave(LINKS, reason)
        elif change is not None:
            self.report_change(LINKS, Finding("V501", entity.key, f"{name}: {change}", detail))
        else:
            self.result.differ(LINKS, "V207", entity.key, f"{name} {detail}")

    def is_viewed(self, kind: str, name: str) -> bool:
        """True if an object tells where this link leads."""
        reference = metamodel().types[kind].references.get(name)
        return reference is not None and reference.viewed

    # fields

    def _compare_fields(self, entity: PlannedEntity, place: ArchivedEntity, actual: SavedObject) -> None:
        if not self.with_fields or actual.type != entity.type:
            return
        comparison = self.expectation.compare(entity, place.state, actual, self.screening.allowed_values(entity.n))
        self.result.agree(FIELDS, comparison.agree)
        for reason, count in comparison.not_compared.items():
            self.result.leave(FIELDS, reason, count)
        if "not_finalised" in comparison.not_compared:
            self.result.notice("V506", entity.key, entity.type)
        if ACCEPTED in comparison.not_compared:
            self.result.notice("V503", entity.key, entity.type)
        for problem in comparison.problems:
            self._report_wrong_field(entity, place, problem)
        for model_field in (*comparison.filled_fields, *comparison.emptied_fields):
            detail = f"{entity.type}.{model_field.name}"
            self.defaults.keep_default(model_field, entity.n, detail, is_empty=model_field in comparison.emptied_fields)
        way = "by its date" if entity.type in BY_DATE else "by its status"
        for name, is_filled in comparison.authors.items():
            self.defaults.keep(f"{name}, closed {way}", entity.n, f"{entity.type}.{name}", is_empty=not is_filled)
        is_planned = NUMBERS.get(entity.type) in entity.fields and self.expectation.facts.sets_system_fields
        # what is added to a record that another run loaded comes last, wherever the plan has it
        is_other_runs = entity.type == "Dokument" and place.state == "already_there"
        if not is_other_runs:
            keep_number(self.ledger, entity, actual, is_planned=is_planned)
        if entity.type == "Dokumentversjon":
            self._compare_file(entity, place, actual)

    def _report_wrong_field(self, entity: PlannedEntity, place: ArchivedEntity, problem: Problem) -> None:
        detail = f"{entity.type}.{problem.name}"
        change = self.log.find_field_change(place.id, problem.name, problem.actual)
        if change is not None:
            value = _fingerprint(problem.actual)
            self.report_change(FIELDS, Finding("V501", entity.key, f"{detail}: {change}", value))
        elif place.state == "already_there" and self.log.is_as_made(place.id, problem.name, problem.actual):
            # as an earlier run loaded it, by the log's own word: it is the source that says otherwise now
            if problem.name == SCREENING and SCREENING not in entity.fields and is_empty(problem.actual):
                # neither source nor object is screened: what stands above was screened since, and others made that
                self.result.leave(FIELDS, "other_run")
                return
            place_of_field = (metamodel().types[entity.type].family, problem.name)
            if place_of_field in OF_FIRST_VERSION and self.ledger.has_new_version(place.n):
                # a document is called and dated as its first version, and what changed since is archived as the new one
                self.result.leave(FIELDS, "other_run")
                return
            is_derived = self.ledger.has_derived_dates and problem.name in DERIVED_FIELDS
            if is_derived or (self.ledger.has_named_makers and problem.name in MAKER_FIELDS):
                # told of what that run knew: of later files in a folder, say, it knew nothing
                self.result.leave(FIELDS, "other_run")
                return
            finding = Finding("V105", entity.key, detail, _fingerprint(problem.actual))
            self.result.report_change(FIELDS, "source_changed", finding)
        else:
            self.result.differ(FIELDS, problem.code, entity.key, detail, actual=_fingerprint(problem.actual))

    def report_lost_codes(self) -> None:
        """Names the codes of the run that the archive's lists do not have any more. A list without codes is none."""
        expectation = self.expectation
        for kind, name, code in sorted(expectation.used_codes):
            listed_codes = expectation.listed_codes.get((kind, name))
            if listed_codes and code not in listed_codes:
                self.result.report_change(FIELDS, "code_gone", Finding("V505", f"{kind}.{name}", code))

    def find_renumbering(self, n: int, name: str) -> Change | None:
        """Finds another user's change of the number of a document or version."""
        place = self.ledger.archived_entity(n)
        return self.log.find_field_change(place.id, name) if place is not None else None

    def judge_defaults(self) -> None:
        """Reports objects with an empty field that the archive fills in for other objects."""
        self.defaults.judge(self._report_emptied)

    def _report_emptied(self, n: int, detail: str) -> None:
        entity, place = self.ledger.entity(n), self.ledger.archived_entity(n)
        name = detail.rpartition(".")[2]
        change = self.log.find_field_change(place.id, name, None) if place is not None else None
        if change is not None:
            self.report_change(FIELDS, Finding("V501", entity.key, f"{detail}: {change}"))
        else:
            self.result.differ(FIELDS, "V232" if name == "sjekksum" else "V211", entity.key, detail)

    # the file that a version names

    def _compare_file(self, entity: PlannedEntity, place: ArchivedEntity, actual: SavedObject) -> None:
        """What a version says of its file now, against what was loaded; kept, so that the file can be fetched by it."""
        loaded_file, content = self.ledger.loaded_file(place.n), self.ledger.content(place.n)
        fields = actual.fields
        file, checksum, size = fields.get(FILE_LINK), fields.get("sjekksum"), fields.get("filstoerrelse")
        named_sha256 = str(checksum or "").lower() or None
        self.ledger.keep_file(place.n, None if file is None else str(file), named_sha256, size)
        if content is None:
            return
        change = (
            self.log.find_field_change(place.id, FILE_LINK, file)
            if loaded_file.file
            not in (
                None,
                str(file),
            )
            else None
        )
        if change is not None:
            detail = f"Dokumentversjon.{FILE_LINK}: {change}"
            self.report_change(FIELDS, Finding("V501", entity.key, detail, f"{file} {named_sha256}"))
            self.ledger.mark(place.n, CHANGED)
            return
        sha256 = loaded_file.sha256 or content.sha256
        bytes_ = loaded_file.size_bytes if loaded_file.size_bytes is not None else content.size_bytes
        self._compare_file_field(entity, "V231", FILE_LINK, loaded_file.file, None if file is None else str(file))
        if named_sha256 is not None and named_sha256 == self.ledger.accepted.get(place.n):
            self.result.take_accepted(FIELDS, Finding("V232", entity.key, "Dokumentversjon.sjekksum", named_sha256))
            return
        if sha256 is None:
            # nobody has hashed it: comparing the bytes does, and judges the archive's checksum with them
            self.result.leave(FIELDS, "depth", 0 if self.with_bytes else 1)
        else:
            self._compare_checksum(entity, sha256, fields)
        self._compare_file_field(entity, "V233", "filstoerrelse", _text(bytes_), _text(size))
        for name in _SAID_OF_FILES:
            if checksum or name != "sjekksumAlgoritme":
                detail = f"Dokumentversjon.{name}"
                self.defaults.keep(name, entity.n, detail, is_empty=is_empty(fields.get(name)))

    def _compare_checksum(self, entity: PlannedEntity, sha256: str, fields: Mapping[str, object]) -> None:
        """The checksum that the archive keeps; one by another algorithm says nothing, where it looks like one."""
        detail = "Dokumentversjon.sjekksum"
        checksum, algorithm = str(fields.get("sjekksum") or ""), str(fields.get("sjekksumAlgoritme") or "")
        self.defaults.keep("sjekksum", entity.n, detail, is_empty=not checksum)
        is_other = _DIGITS.get(_plain_algorithm(algorithm), 0) == len(checksum) != _SHA256_DIGITS and _is_hexadecimal(
            checksum
        )
        if checksum and not is_other and algorithm and _plain_algorithm(algorithm) != "sha256":
            self.result.differ(FIELDS, "V232", entity.key, f"{detail}Algoritme", actual=f"{algorithm} {checksum}")
        else:
            self._compare_file_field(
                entity, "V232", "sjekksum", sha256, None if is_other or not checksum else checksum.lower()
            )

    def _compare_file_field(
        self, entity: PlannedEntity, code: str, name: str, expected: str | None, actual: str | None
    ) -> None:
        if expected is None:
            self.result.leave(FIELDS, "set_by_archive")
        elif actual is None and name != FILE_LINK:
            self.result.leave(FIELDS, "no_checksum")
        elif expected == actual:
            self.result.agree(FIELDS)
        else:
            self.result.differ(FIELDS, code, entity.key, f"Dokumentversjon.{name}", actual=actual or "")


def compare_by_id(comparison: ObjectComparison, families: Iterable[str]) -> None:
    """Compares by id everything that was not met below its parent: moved, of another type, or missing."""
    for family in families:
        for portion in comparison.ledger.batches(family, "seen = 0"):
            by_id = {
                actual.id: actual
                for actual in objects_of_ids(comparison.archive, family, [place.id for place in portion])
            }
            for place in portion:
                if place.id in by_id:
                    comparison.compare(place, by_id[place.id])
                else:
                    comparison.report_missing(place)


def compare_many_links(comparison: ObjectComparison) -> None:
    """Asks for the links to many (secondary classes, cross references) by their other end."""
    ledger = comparison.ledger
    for kind, name in ledger.link_names():
        if comparison.is_viewed(kind, name):
            continue
        for target, entities in ledger.many_links(kind, name):
            end = ledger.archived_entity(target)
            places = [ledger.archived_entity(n) for n in entities]
            present = [place for place in places if place is not None and end is not None and place.judgement != AMISS]
            comparison.result.leave(LINKS, "not_there", len(entities) - len(present))
            if end is None or not present:
                continue
            linked_ids = _linked_ids(comparison.archive, kind, name, end.id, [place.id for place in present])
            for place in present:
                if place.id in linked_ids:
                    comparison.result.agree(LINKS)
                else:
                    comparison.report_wrong_link(ledger.entity(place.n), place, (name, target), f"{end.id} → -")


def _linked_ids(archive: Archive, kind: str, name: str, target_id: str, ids: list[str]) -> frozenset[str]:
    parameters = {f"@i{i}": source_id for i, source_id in enumerate(ids)}
    condition = f"{name}.id = @b && (" + " || ".join(f"id = {source_id}" for source_id in parameters) + ")"
    query = Query(kind, condition, {"@b": target_id, **parameters}, order=(("id", "asc"),))
    return frozenset(source_id.id for source_id in objects(archive, query))


def _plain_algorithm(algorithm: str) -> str:
    return algorithm.lower().replace("-", "").replace("_", "").replace(" ", "")


def _is_hexadecimal(text: str) -> bool:
    return all(sign in "0123456789abcdef" for sign in text.lower())


def _fingerprint(value: object) -> str:
    """What tells a value from another, and says nothing of it to who does not know it: names may be screened."""
    return hashlib.sha256(repr(value).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def fingerprint_of(actual: SavedObject) -> str:
    """What tells an object from another, and from itself with anything changed."""
    return _fingerprint((actual.type, actual.id, sorted(actual.fields.items()), sorted(actual.links.items())))


def _text(value: object) -> str | None:
    return None if value is None else str(int(str(value))) if str(value).isdigit() else str(value)

"""Holds one object of the archive against what is planned: its type, its place, its links, its fields, its file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from noarkit.archive.paging import objects
from noarkit.archive.port import Archive
from noarkit.archive.values import Query, SavedObject
from noarkit.graph.store import Planned
from noarkit.load.lookup import objects_of_ids
from noarkit.load.verification.changes import Change, ChangeLog
from noarkit.load.verification.defaults import Defaults
from noarkit.load.verification.expectation import ACCEPTED, Expectation, Problem
from noarkit.load.verification.ledger import AMISS, AS_PLANNED, CHANGED, UNASKED, Ledger, Standing
from noarkit.load.verification.order import NUMBERS, keep_number
from noarkit.load.verification.outcome import FIELDS, LINKS, Verified
from noarkit.load.verification.screening import Screening
from noarkit.model import metamodel

_SHA256_DIGITS = 64
# how long a checksum is, by algorithm
_DIGITS = {"md5": 32, "sha1": 40, "sha224": 56, "sha384": 96, "sha512": 128}


@dataclass(slots=True)
class Bench:
    """Everything that comparing an object needs. `with_fields` says whether its fields are compared too."""

    ledger: Ledger
    archive: Archive
    expectation: Expectation
    screening: Screening
    log: ChangeLog
    result: Verified
    with_fields: bool
    with_bytes: bool
    defaults: Defaults = field(default_factory=Defaults)

    def compare(self, place: Standing, actual: SavedObject) -> None:
        """Judges one object that the archive has; does nothing where it was judged before."""
        if place.seen != UNASKED:
            return
        planned = self.ledger.entity(place.n)
        if actual.type != planned.type:
            self.result.differ(planned.type, "V205", planned.key, f"{planned.type} → {actual.type}")
            self.ledger.mark(place.n, AMISS)
            self._fields_of(planned, place, actual)
            return
        moved = self._moved(planned, place, actual)
        self.ledger.mark(place.n, moved)
        if moved == AS_PLANNED:
            self.result.agree(planned.type)
        self._links(planned, place, actual)
        self._fields_of(planned, place, actual)

    def missing(self, place: Standing) -> None:
        """What the journal says stands, and the archive does not have."""
        planned = self.ledger.entity(place.n)
        removed = self.log.removed(place.id)
        # what is gone is never verified, whoever removed it
        detail = f"{planned.type} {place.id}" + (f": removed by {removed}" if removed else "")
        self.result.differ(planned.type, "V204", planned.key, detail)
        self.ledger.mark(place.n, AMISS)
        self.result.leave(FIELDS, "not_there", len(planned.fields) if self.with_fields else 0)

    def changed(self, row: str, code: str, key: str, detail: str) -> None:
        """Another user's change since the load: named, and no difference."""
        self.result.leave(row, "changed_since")
        self.result.changes += 1
        self.result.notice(code, key, detail)

    def _moved(self, planned: Planned, place: Standing, actual: SavedObject) -> int:
        """Says whether an object hangs where it was planned."""
        parent = self.ledger.standing(planned.parent) if planned.parent is not None else None
        link = planned.parent_link
        if parent is None or link is None:
            return AS_PLANNED
        there = actual.links.get(link)
        if there == parent.id or (there is None and not self.viewed(planned.type, link)):
            return AS_PLANNED
        change = self.log.link_changed(place.id, link)
        if change is not None:
            self.changed(planned.type, "V501", planned.key, f"{link}: {change}")
            return CHANGED
        self.result.differ(planned.type, "V206", planned.key, f"{link} {parent.id} → {there}")
        return AMISS

    def _links(self, planned: Planned, place: Standing, actual: SavedObject) -> None:
        """Further links to one object; those to many are asked for apart."""
        wanted = {name: other for name, other in self.ledger.links(place.n) if self.viewed(planned.type, name)}
        for name, other in wanted.items():
            end = self.ledger.standing(other)
            if end is None:
                self.result.leave(LINKS, "not_there")
            elif actual.links.get(name) == end.id:
                self.result.agree(LINKS)
            else:
                self.wrong_link(planned, place, (name, other), f"{end.id} → {actual.links.get(name)}")
        if place.state == "done":
            self._links_too_many(planned, place, actual, wanted)

    def _links_too_many(
        self, planned: Planned, place: Standing, actual: SavedObject, wanted: Mapping[str, int]
    ) -> None:
        """Links to one that nobody planned, such as a class; the other side of a link may have been planned there."""
        for name, there in actual.links.items():
            if name == planned.parent_link or name in wanted or not self.viewed(planned.type, name):
                continue
            reference = metamodel().types[planned.type].references[name]
            if self.ledger.linked_from(place.n, reference.inverse):
                continue
            self.wrong_link(planned, place, (name, None), f"- → {there}")

    def wrong_link(self, planned: Planned, place: Standing, link: tuple[str, int | None], detail: str) -> None:
        """A link that is not as planned: not made yet, changed by another user, or wrong."""
        name, other = link
        left = self.ledger.link_left(place.n, name, other) if other is not None else ""
        change = self.log.link_changed(place.id, name)
        if left:
            self.result.leave(LINKS, left)
        elif change is not None:
            self.changed(LINKS, "V501", planned.key, f"{name}: {change}")
        else:
            self.result.differ(LINKS, "V207", planned.key, f"{name} {detail}")

    def viewed(self, kind: str, name: str) -> bool:
        """True where an object tells where this link leads."""
        reference = metamodel().types[kind].references.get(name)
        return reference is not None and reference.viewed

    # fields

    def _fields_of(self, planned: Planned, place: Standing, actual: SavedObject) -> None:
        if not self.with_fields or actual.type != planned.type:
            return
        compared = self.expectation.compare(planned, place.state, actual, self.screening.allowed(planned.n))
        self.result.agree(FIELDS, compared.agree)
        for reason, count in compared.left.items():
            self.result.leave(FIELDS, reason, count)
        if ACCEPTED in compared.left:
            self.result.notice("V503", planned.key, planned.type)
        for problem in compared.problems:
            self._wrong_field(planned, place, problem)
        for one in (*compared.filled, *compared.emptied):
            detail = f"{planned.type}.{one.name}"
            self.defaults.keep_default(one, planned.n, detail, is_empty=one in compared.emptied)
        told = NUMBERS.get(planned.type) in planned.fields and self.expectation.facts.sets_system_fields
        keep_number(self.ledger, planned, actual, told=told)
        if planned.type == "Dokumentversjon":
            self._file_named(planned, place, actual)

    def _wrong_field(self, planned: Planned, place: Standing, problem: Problem) -> None:
        detail = f"{planned.type}.{problem.name}"
        change = self.log.field_changed(place.id, problem.name, problem.actual)
        if change is not None:
            self.changed(FIELDS, "V501", planned.key, f"{detail}: {change}")
        elif place.state == "already_there" and self.log.unchanged(place.id, problem.name):
            # as an earlier run loaded it: it is the source that says otherwise now
            self.result.leave(FIELDS, "source_changed")
            self.result.notice("V105", planned.key, detail)
        else:
            self.result.differ(FIELDS, problem.code, planned.key, detail)

    def renumbered(self, n: int, name: str) -> Change | None:
        """Another user's hand in the number that the archive keeps of a document or a version."""
        place = self.ledger.standing(n)
        return self.log.field_changed(place.id, name) if place is not None else None

    def judge_defaults(self) -> None:
        """Says of which objects a field is empty that the archive fills in for others."""
        self.defaults.judge(self._emptied)

    def _emptied(self, n: int, detail: str) -> None:
        planned, place = self.ledger.entity(n), self.ledger.standing(n)
        name = detail.rpartition(".")[2]
        change = self.log.field_changed(place.id, name, None) if place is not None else None
        if change is not None:
            self.changed(FIELDS, "V501", planned.key, f"{detail}: {change}")
        else:
            self.result.differ(FIELDS, "V232" if name == "sjekksum" else "V211", planned.key, detail)

    # the file that a version names

    def _file_named(self, planned: Planned, place: Standing, actual: SavedObject) -> None:
        """What a version says of its file now, against what was loaded; kept, so that the file can be fetched by it."""
        loaded, content = self.ledger.loaded(place.n), self.ledger.content(place.n)
        fields = actual.fields
        file, checksum, size = fields.get("referanseDokumentfil"), fields.get("sjekksum"), fields.get("filstoerrelse")
        named = str(checksum or "").lower() or None
        self.ledger.name_file(place.n, None if file is None else str(file), named, size)
        if content is None:
            return
        change = (
            self.log.field_changed(place.id, "referanseDokumentfil", file)
            if loaded.file
            not in (
                None,
                str(file),
            )
            else None
        )
        if change is not None:
            self.changed(FIELDS, "V501", planned.key, f"Dokumentversjon.referanseDokumentfil: {change}")
            self.ledger.mark(place.n, CHANGED)
            return
        sha256 = loaded.sha256 or content.sha256
        bytes_ = loaded.size_bytes if loaded.size_bytes is not None else content.size_bytes
        self._file_field(planned, "V231", "referanseDokumentfil", loaded.file, None if file is None else str(file))
        if named is not None and named == self.ledger.accepted.get(place.n):
            self.result.leave(FIELDS, ACCEPTED)
            self.result.notice("V503", planned.key, "Dokumentversjon.sjekksum")
            return
        if sha256 is None:
            # nobody has hashed it: comparing the bytes does, and judges the archive's checksum with them
            self.result.leave(FIELDS, "depth", 0 if self.with_bytes else 1)
        else:
            self._checksum(planned, sha256, fields)
        self._file_field(planned, "V233", "filstoerrelse", _text(bytes_), _text(size))

    def _checksum(self, planned: Planned, sha256: str, fields: Mapping[str, object]) -> None:
        """The checksum that the archive keeps; one by another algorithm says nothing, where it looks like one."""
        detail = "Dokumentversjon.sjekksum"
        kept, algorithm = str(fields.get("sjekksum") or ""), str(fields.get("sjekksumAlgoritme") or "")
        self.defaults.keep("sjekksum", planned.n, detail, is_empty=not kept)
        is_other = _DIGITS.get(_plain(algorithm), 0) == len(kept) != _SHA256_DIGITS and _is_hexadecimal(kept)
        if kept and not is_other and algorithm and _plain(algorithm) != "sha256":
            self.result.differ(FIELDS, "V232", planned.key, f"{detail}Algoritme")
        else:
            self._file_field(planned, "V232", "sjekksum", sha256, None if is_other or not kept else kept.lower())

    def _file_field(self, planned: Planned, code: str, name: str, expected: str | None, there: str | None) -> None:
        if expected is None:
            self.result.leave(FIELDS, "set_by_archive")
        elif there is None and name != "referanseDokumentfil":
            self.result.leave(FIELDS, "no_checksum")
        elif expected == there:
            self.result.agree(FIELDS)
        else:
            self.result.differ(FIELDS, code, planned.key, f"Dokumentversjon.{name}")


def compare_by_id(bench: Bench, families: Iterable[str]) -> None:
    """Asks for everything that was not met below its parent, by its id: moved, of another type, or not there."""
    for family in families:
        for portion in bench.ledger.portions(family, "seen = 0"):
            there = {one.id: one for one in objects_of_ids(bench.archive, family, [place.id for place in portion])}
            for place in portion:
                if place.id in there:
                    bench.compare(place, there[place.id])
                else:
                    bench.missing(place)


def compare_many_links(bench: Bench) -> None:
    """Asks for the links to many (secondary classes, cross references) by their other end."""
    ledger = bench.ledger
    for kind, name in ledger.link_names():
        if bench.viewed(kind, name):
            continue
        for other, entities in ledger.many_links(kind, name):
            end = ledger.standing(other)
            found = [ledger.standing(n) for n in entities]
            present = [place for place in found if place is not None and end is not None and place.seen != AMISS]
            bench.result.leave(LINKS, "not_there", len(entities) - len(present))
            if end is None or not present:
                continue
            linked = _linked(bench.archive, kind, name, end.id, [place.id for place in present])
            for place in present:
                if place.id in linked:
                    bench.result.agree(LINKS)
                else:
                    bench.wrong_link(ledger.entity(place.n), place, (name, other), f"{end.id} → -")


def _linked(archive: Archive, kind: str, name: str, other: str, ids: list[str]) -> frozenset[str]:
    parameters = {f"@i{i}": one for i, one in enumerate(ids)}
    where = f"{name}.id = @b && (" + " || ".join(f"id = {one}" for one in parameters) + ")"
    query = Query(kind, where, {"@b": other, **parameters}, order=(("id", "asc"),))
    return frozenset(one.id for one in objects(archive, query))


def _plain(algorithm: str) -> str:
    return algorithm.lower().replace("-", "").replace("_", "").replace(" ", "")


def _is_hexadecimal(text: str) -> bool:
    return all(sign in "0123456789abcdef" for sign in text.lower())


def _text(value: object) -> str | None:
    return None if value is None else str(int(str(value))) if str(value).isdigit() else str(value)

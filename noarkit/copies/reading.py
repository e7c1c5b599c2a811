"""Reads a source for its documents: each is hashed, identified and given to the row of the copy that its rule asks for.

Nothing is converted here. A document that was there before is hashed again, and nothing more where its bytes are the
same; the source is only ever read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

from noarkit.copies.answers import answer_findings
from noarkit.copies.by_hand import rule_by_hand, taken_copy
from noarkit.copies.conversion import KEEP, ORIGINAL_STANDS, UNKEPT
from noarkit.copies.explanation import MISSING_TOOLS
from noarkit.copies.port import Identity, Rule
from noarkit.copies.reasons import Reason
from noarkit.copies.rows import StoredCopy, StoredDocument
from noarkit.copies.store import CopyKey, CopyOutcome, CopyStore, DocumentPlace
from noarkit.copies.toolbox import ConverterChoice, Policy, Toolbox, choose_converter, converter_choice, unfit_fallback
from noarkit.errors import SourceFault
from noarkit.events import Event, EventFields, Listener
from noarkit.graph.entity import Content, SetAside, Skipped
from noarkit.records import PLACE_FAULTS, Groundwork, Source, read_stated
from noarkit.safe import atomic
from noarkit.safe.digest import Digest

EVENTS: EventFields = {"documents_read": {"documents": "count", "bytes": "count", "of": "count?"}}
OUTDATED = "outdated"
"""Said for `--retry`: copies that another version of their tool, or other options, made."""
_TELL_EVERY = 1_000
_COMMIT_EVERY = 200


@runtime_checkable
class _CountableSource(Protocol):
    """A source that knows how many documents it has before they are read."""

    def count_versions(self) -> int:
        """How many there are."""
        ...


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """What is read anew: `retry` names reasons (or `outdated`), `only` PRONOM identifiers."""

    retry: frozenset[str] = frozenset()
    only: frozenset[str] = frozenset()


@dataclass(slots=True)
class ReadingTotals:
    """What a source held, beside its documents."""

    records: int = 0
    documents: int = 0
    bytes: int = 0
    set_aside: int = 0
    skipped: int = 0
    doubtful: Counter[str] = field(default_factory=Counter)
    """Documents planned for a converter that may refuse them, by what stands behind it and cannot do it here."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One walk through a source."""

    source: Source
    store: CopyStore
    policy: Policy
    toolbox: Toolbox
    walk: int
    folder: Path
    """Where documents are copied to while they are identified."""
    now: str
    options: ReadingOptions = field(default_factory=ReadingOptions)

    @property
    def name(self) -> str:
        """Kind and place of the source, as documents bear them."""
        return source_name(self.source)

    def contents(self, emit: Listener, totals: ReadingTotals) -> Iterator[tuple[str, Content]]:
        """Every content of every record, with the record's key."""
        for item in self.source.records(emit):
            if isinstance(item, SetAside):
                totals.set_aside += 1
            elif isinstance(item, Skipped):
                totals.skipped += 1
            elif not isinstance(item, Groundwork):
                totals.records += 1
                for content in item.contents:
                    yield item.key, content

    def read(self, emit: Listener) -> Iterator[ReadingTotals]:
        """Reads the whole source; yields after each part that is written, so that the work can be stopped there."""
        totals = ReadingTotals()
        known_count = self.source.count_versions() if isinstance(self.source, _CountableSource) else None
        emit(Event("documents_read", {"documents": 0, "bytes": 0, "of": known_count}))
        contents = self.contents(emit, totals)
        at_end = False
        while not at_end:
            at_end = True
            with self.store.transaction():
                for record_key, content in contents:
                    self._note(record_key, content, totals)
                    if totals.documents % _COMMIT_EVERY == 0:
                        at_end = False
                        break
            if at_end or totals.documents % _TELL_EVERY == 0:
                progress = {"documents": totals.documents, "bytes": totals.bytes, "of": known_count}
                emit(Event("documents_read", progress))
            yield totals

    def _note(self, record_key: str, content: Content, totals: ReadingTotals) -> None:
        totals.documents += 1
        place = DocumentPlace(
            self.name, record_key, content.locator, content.name, content.size_bytes, content.modified_ns
        )
        staged = self.folder / atomic.temporary_name()
        try:
            digest, identity = self._recognise(place, content, staged)
        except PLACE_FAULTS:
            raise
        except SourceFault as fault:
            self.store.note_document(place, self.walk, None, None, fault={"code": fault.code, **fault.data})
            return
        finally:
            staged.unlink(missing_ok=True)
        totals.bytes += digest.size_bytes
        size = digest.size_bytes if place.size_bytes is None else place.size_bytes
        place = DocumentPlace(self.name, record_key, place.locator, place.name, size, place.modified_ns)
        number = self.store.note_document(place, self.walk, digest.sha256, identity)
        rule = self.policy.rule_for(identity)
        if not self.options.only or identity.puid in self.options.only:
            copy, also = self._copies(digest, identity)
            self.store.link(number, copy, also, self._access(digest, identity))
            planned = self.store.copy(copy)
            has_fallback = rule is not None and len(rule.converters) > 1 and planned.state in ("planned", "working")
            if rule and has_fallback and (unfit := unfit_fallback(self.toolbox, rule, planned.converter)):
                totals.doubtful[unfit] += 1

    def _recognise(self, place: DocumentPlace, content: Content, staged: Path) -> tuple[Digest, Identity]:
        """Hash and identity of a document. Where it is known, it is only hashed while its bytes are the same."""
        known = self.store.document(place.source, place.locator)
        # of what was not known, more may be known by now
        identity = known.identity if known is not None and known.name == place.name else None
        if known is not None and identity is not None and (identity.puid or identity.damage):
            digest = stage(self.source, content, None)
            if digest.sha256 == known.sha256:
                return digest, identity
        digest = stage(self.source, content, staged)
        return digest, self.toolbox.identify(staged, content.name)

    def _copies(self, digest: Digest, identity: Identity) -> tuple[int, int | None]:
        """The numbers of the copies that the policy wants of a document: the copy, and the one in addition."""
        rule = self.policy.rule_for(identity)
        is_lost = identity.damage not in ("", "damaged")
        if is_lost or (identity.mismatch and self.policy.refuses_mismatch):
            rule = None
        by_person = taken_copy(self.store, digest.sha256, identity)
        if by_person is not None:
            return self._with_taken(by_person, digest, identity, rule)
        if rule is None:
            return self._without(digest, identity, None), None
        return self._by_rule(digest, identity, rule)

    def _access(self, digest: Digest, identity: Identity) -> int | None:
        """The number of the copy for reading that the policy wants of a document; None where it wants none, and of a
        document that nobody knows, which is told of once already."""
        rule = self.policy.rule_for(identity, "access")
        if rule is None or rule.action == "leave" or identity.damage:
            return None
        if identity.mismatch and self.policy.refuses_mismatch:
            return None
        return self._by_rule(digest, identity, rule)[0]

    def _with_taken(
        self, by_person: StoredCopy, digest: Digest, identity: Identity, rule: Rule | None
    ) -> tuple[int, int | None]:
        """A copy that a person made stands where a converter's would: as the copy, or as the one in addition."""
        self._answer_anew(by_person, rule_by_hand(rule))
        if rule is None or not rule.also:
            return by_person.n, None
        if by_person.target == rule.also:
            return self._by_rule(digest, identity, rule)[0], by_person.n
        return by_person.n, self._planned(digest, identity, rule, rule.also)

    def _by_rule(self, digest: Digest, identity: Identity, rule: Rule) -> tuple[int, int | None]:
        if rule.action in ("manual", "leave"):
            return self._without(digest, identity, rule), None
        also = self._planned(digest, identity, rule, rule.also) if rule.also else None
        if rule.action != "keep":
            number = self._planned(digest, identity, rule, rule.target)
            planned, other = self.store.copy(number), self.policy.otherwise(rule)
            if other is not None and (planned.state, planned.reason) == ("failed", Reason.CONTENT_REFUSED):
                return self._by_rule(digest, identity, other)
            return number, also
        latest = self.store.latest(self._key(digest, identity, rule, ""))
        other = self.policy.otherwise(rule)
        if latest is not None and latest.reason in UNKEPT and other is not None:
            return self._by_rule(digest, identity, other)
        return self._keep(digest, identity, rule), also

    def instead(self, copy: StoredCopy, identity: Identity, rule: Rule) -> None:
        """Gives the documents of a copy that could not be kept to the rule that is for such documents."""
        digest = Digest(copy.source_sha256, copy.source_size)
        self.store.relink(copy.n, *self._by_rule(digest, identity, rule))

    def _key(self, digest: Digest, identity: Identity, rule: Rule | None, target: str) -> CopyKey:
        rule_digest = self.policy.rule_digest(rule) if rule is not None else ""
        return CopyKey(digest.sha256, identity.puid or "", rule_digest, target)

    def _without(self, digest: Digest, identity: Identity, rule: Rule | None) -> int:
        """The row of a document that nothing is made of, with the reason."""
        key = self._key(digest, identity, rule, "")
        if rule is not None and rule.action == "leave":
            outcome = CopyOutcome("left", data={"why": rule.why} if rule.why else {})
        elif rule is not None:
            outcome = CopyOutcome("failed", Reason.MANUAL, {"why": rule.why, "steps": list(rule.steps)})
        elif identity.mismatch:
            outcome = CopyOutcome("failed", Reason.FORMAT_MISMATCH, {"suffix": identity.suffix})
        elif identity.damage:
            at = {} if identity.damaged_at is None else {"at": identity.damaged_at}
            outcome = CopyOutcome("failed", Reason(identity.damage), at)
        else:
            reason = Reason.NO_RULE if identity.puid else Reason.UNKNOWN_FORMAT
            outcome = CopyOutcome("failed", reason, {"puid": identity.puid} if identity.puid else {})
        number = self.store.plan(key, rule.name if rule else "", digest.size_bytes, self.walk)
        self.store.settle(number, outcome, self.now)
        return number

    def _keep(self, digest: Digest, identity: Identity, rule: Rule) -> int:
        key = self._key(digest, identity, rule, "")
        latest = self.store.latest(key)
        if latest is not None:
            return self._again(latest, rule)
        number = self.store.plan(
            CopyKey(key.source_sha256, key.puid, key.rule_digest, "", KEEP), rule.name, digest.size_bytes, self.walk
        )
        return number

    def _planned(self, digest: Digest, identity: Identity, rule: Rule, target: str) -> int:
        """The row of a copy: the latest that a rule led to, or a new one."""
        key = self._key(digest, identity, rule, target)
        latest = self.store.latest(key)
        choice = self._choice(latest, rule, target)
        if latest is not None and choice is None:
            return self._again(latest, rule)
        choice = choice or choose_converter(self.toolbox, rule, target)
        whole_key = CopyKey(
            *(key.source_sha256, key.puid, key.rule_digest, target),
            *(choice.name, choice.version, choice.options_digest),
        )
        number = self.store.plan(whole_key, rule.name, digest.size_bytes, self.walk, rule.purpose)
        if not choice.name:
            self.store.settle(
                number, CopyOutcome("failed", Reason.TOOL_MISSING, {MISSING_TOOLS: list(rule.converters)}), self.now
            )
        return number

    def _again(self, copy: StoredCopy, rule: Rule) -> int:
        if copy.reason is not None and copy.reason in self.options.retry:
            self.store.renew(copy.n, self.walk)
        elif copy.state in ("planned", "working"):
            self.store.touch(copy.n, self.walk)
        else:
            self._answer_anew(copy, rule)
        return copy.n

    def _answer_anew(self, copy: StoredCopy, rule: Rule) -> None:
        """Holds what was found before against what the rule says of it now, which is no part of a copy's key."""
        was_refused = copy.reason is Reason.CONTENT_REFUSED and "findings" in copy.data
        if copy.accepted_by is not None or not (copy.state in ("made", "kept", "held") or was_refused):
            return
        answer = answer_findings(rule, copy.findings, "kept" if copy.converter == KEEP else "made")
        if was_refused and answer.state != "failed":
            self.store.renew(copy.n, self.walk)
        elif (answer.state, answer.reason) != (copy.state, copy.reason) and copy.reason not in ORIGINAL_STANDS:
            self.store.answer(copy.n, answer.state, answer.reason, answer.data)

    def _choice(self, latest: StoredCopy | None, rule: Rule, target: str) -> ConverterChoice | None:
        """What makes a copy; None where the latest stands, or is made as it was planned.

        A document that one converter of its rule has refused stays with the one that it came to.
        """
        if latest is None or (latest.reason is Reason.TOOL_MISSING and not latest.converter):
            return choose_converter(self.toolbox, rule, target)
        if latest.reason is Reason.TOOL_MISSING and (installed := self._installed_since(latest, rule, target)):
            return installed
        is_open = latest.state in ("planned", "working")
        # another tool is what those reasons wait for
        waits = latest.reason in (Reason.TOOL_TOO_OLD, Reason.TOOL_MISSING)
        is_named = waits or (latest.reason or "") in self.options.retry
        if not (is_open or is_named or OUTDATED in self.options.retry):
            return None
        choice = converter_choice(self.toolbox, latest.converter, rule, target)
        if choice is None:
            return choose_converter(self.toolbox, rule, target) if is_open else None
        is_same = (choice.version, choice.options_digest) == (latest.version, latest.options_digest)
        return None if is_same else choice

    def _installed_since(self, latest: StoredCopy, rule: Rule, target: str) -> ConverterChoice | None:
        """The first converter that is there now and was not when the others had failed."""
        tools = latest.data.get(MISSING_TOOLS)
        names = [name for name in rule.converters if isinstance(tools, list) and name in tools]
        choices = (converter_choice(self.toolbox, name, rule, target) for name in names)
        return next((choice for choice in choices if choice is not None), None)


def stage(source: Source, content: Content, target: Path | None) -> Digest:
    """Hashes a content, and copies it to a file of ours where one is named. Raises `ItemChanged` where it is not what
    was stated of it, other `SourceFault`s, and `DiskFull`."""
    if target is None:
        return read_stated(source, content)
    with atomic.no_room(target), target.open("xb") as file:
        return read_stated(source, content, file)


def content_of(document: StoredDocument) -> Content:
    """A document as its source knows it."""
    return Content(document.locator, document.name, document.size_bytes, document.modified_ns, document.sha256)


def source_name(source: Source) -> str:
    """Kind and place of a source, as the rows of its documents bear them."""
    return f"{source.identity.kind}:{source.identity.where}"

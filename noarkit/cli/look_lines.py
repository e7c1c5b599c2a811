"""Items, cards and custody chains as lines for a terminal; nothing that a title holds can steer it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from noarkit.catalogue.catalogue import Card, Entry, Link
from noarkit.catalogue.conversion_steps import role_of
from noarkit.catalogue.masking import document_ref, item_ref
from noarkit.catalogue.moments import spoken
from noarkit.catalogue.port import CustodyStep, Document, Json
from noarkit.model.format_names import role_mark
from noarkit.words.labels import field_label, glossed
from noarkit.words.texts import Texts, grouped, plain

_LABEL_WIDTH = 28
_LONGEST = 400


@dataclass(frozen=True, slots=True)
class LookLines:
    """Lines in one language; with veils instead of refs that would tell of what is masked, unless it `is_revealed`."""

    texts: Texts
    zone: str
    """In which moments are told."""
    is_revealed: bool = False

    def entry(self, entry: Entry) -> str:
        """An item as a line of a list: type, number, day, title, what is to be known of it, and its ref."""
        parts = [f"{self._name('type', entry.type):<18} {plain(entry.ident):<14} {entry.day:<10}  {self.title(entry)}"]
        if entry.children:
            parts.append(f"({grouped(entry.children)})")
        if entry.screened:
            parts.append(f"[{self.texts.say('browse.mark.screened')}]")
        parts += self._outcome(entry)
        return "  ".join([*parts, f"<{plain(item_ref(entry))}>"])

    def title(self, entry: Entry) -> str:
        """The title of an item; of a group of records, what became of them."""
        return self._name("state", entry.title) if entry.type == "group" else plain(entry.title)

    def card(self, card: Card, *, is_masked: bool) -> Iterator[str]:
        """All of an item."""
        entry, say = card.entry, self.texts.say
        yield f"{self._name('type', entry.type)}  {plain(entry.ident)}  {self.title(entry)}".replace("    ", "  ")
        rows = {
            "looks.ref": plain(entry.ref if self.is_revealed else item_ref(entry)),
            "looks.inside": " › ".join(self.title(above) for above in card.ancestors),
            "looks.status": glossed(self.texts, entry.status),
            "looks.class": plain(entry.klass),
            "looks.outcome": ", ".join(self._outcome(entry)),
            "looks.masked": say("looks.masked-how") if is_masked else "",
        }
        for key, value in rows.items():
            if value:
                yield self._row(say(key), value)
        yield from self._section("looks.fields", self._fields(card.fields, is_own=entry.type == "row"))
        yield from self._section(
            "looks.documents", (line for one in card.documents for line in self._document(one, entry, card.documents))
        )
        yield from self._section("looks.links", (self._link(link) for link in card.links))
        yield from self._section("looks.links-here", (self._link(link) for link in card.links_here))
        yield from self._section("looks.history", self._history(card))

    def _section(self, key: str, lines: Iterator[str]) -> Iterator[str]:
        first = next(lines, None)
        if first is not None:
            yield from ("", self.texts.say(key), f"  {first}")
            yield from (f"  {line}" for line in lines)

    def _row(self, label: str, value: str) -> str:
        return f"  {label:<{_LABEL_WIDTH}} {value}"

    def _fields(self, fields: Mapping[str, Json], *, is_own: bool = False) -> Iterator[str]:
        """Each field with its label and its own name; grouped ones indented. The columns of a table have their own
        names alone."""
        for name, value in fields.items():
            label = plain(name) if is_own else self._label(name)
            values: Sequence[Json] = value if isinstance(value, list) else [value]
            for inner in values:
                if isinstance(inner, dict):
                    yield label
                    yield from (f"  {line}" for line in self._fields(inner))
                elif isinstance(inner, list):
                    yield f"{label:<{_LABEL_WIDTH}} {_short(', '.join(map(plain, inner)))}"
                else:
                    yield f"{label:<{_LABEL_WIDTH}} {self._value(inner)}"

    def _label(self, name: str) -> str:
        own_name, label = plain(name), field_label(self.texts, name)
        return label if label.lower() == own_name.lower() else f"{label} ({own_name})"

    def _document(self, document: Document, entry: Entry, beside: Sequence[Document]) -> Iterator[str]:
        mark = role_mark(self.texts, role_of(document, beside), document.puid)
        facts = [
            plain(document.title or document.name),
            f"[{mark}]" if mark else "",
            plain(document.name) if document.title and document.name != document.title else "",
            glossed(self.texts, document.variant),
            plain(document.media_type),
            "" if document.size_bytes is None else self.texts.size(document.size_bytes),
            "" if document.locator is not None else self.texts.say("looks.no-file"),
        ]
        yield "  ".join(fact for fact in facts if fact)
        yield f"  <{plain(document.ref if self.is_revealed else document_ref(document, entry))}>"
        if document.sha256:
            yield f"  sha256 {plain(document.sha256)}"
        for step in document.custody:
            yield f"  {self._step(step, document.sha256)}"
            yield from (f"    {line}" for line in self._conversion_lines(step))

    def _step(self, step: CustodyStep, sha256: str) -> str:
        checksum = step.sha256
        if checksum:
            checksum = self.texts.say("looks.same" if checksum == sha256 else "looks.other", sha256=checksum)
        parts = (f"{self._name('step', step.step):<24}", self._moment(step.at), plain(step.agent), checksum)
        return "  ".join(part for part in parts if part).rstrip()

    def _conversion_lines(self, step: CustodyStep) -> Iterator[str]:
        """What is known of a file that was made of another."""
        facts, say = step.facts, self.texts.say
        formats = " → ".join(plain(facts[name]) for name in ("from_format", "to_format") if name in facts)
        parts = {
            "browse.made.source-sum": plain(facts.get("source_sha256", "")),
            "browse.made.formats": formats,
            "browse.made.tool": plain(facts.get("tool", "")),
            "browse.made.checks": say("browse.made.passed", rule=facts["rule"]) if "rule" in facts else "",
            "browse.made.findings": plain(facts.get("findings", "")),
            "browse.made.note": plain(facts.get("note", "")),
        }
        return (f"{say(key)}: {value}" for key, value in parts.items() if value)

    def _link(self, link: Link) -> str:
        if link.entry is None:
            return f"{self._label(link.name)}: <{plain(link.ref)}> ({self.texts.say('browse.links.gone')})"
        return f"{self._label(link.name)}: {self.entry(link.entry)}"

    def _history(self, card: Card) -> Iterator[str]:
        for change in card.history:
            values = f"{self._moment(change.before) or '–'} → {self._moment(change.after) or '–'}"
            yield f"{self._moment(change.at)}  {plain(change.actor)}  {self._label(change.field)}: {_short(values)}"

    def _outcome(self, entry: Entry) -> list[str]:
        state = self._name("state", entry.state) if entry.state else ""
        return [part for part in (state, plain(entry.fault)) if part]

    def _moment(self, text: str) -> str:
        return plain(spoken(text, self.zone))

    def _value(self, value: Json) -> str:
        if isinstance(value, bool):
            return "true" if value else "false"
        return "–" if value is None else _short(self._moment(value) if isinstance(value, str) else plain(value))

    def _name(self, group: str, name: str) -> str:
        for spelling in (name, name[:1].upper() + name[1:]):  # an extract writes its types small
            if self.texts.has("say", f"browse.{group}.{spelling}"):
                return self.texts.say(f"browse.{group}.{spelling}")
        return plain(name)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[:_LONGEST] + " …"

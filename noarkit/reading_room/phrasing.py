"""What pages say, in one language: sentences, counted things, dates, sizes and the names of types.

Nothing here is markup; templates escape it all.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from noarkit.catalogue.moments import exact, zone_name, zoned
from noarkit.model.format_names import format_name
from noarkit.reports.copies_words import finding_name
from noarkit.words.labels import field_label, known_label
from noarkit.words.texts import Texts, grouped, plain, texts

_DAY = re.compile(r"(\d{4})-(\d\d)-(\d\d)")


OUTCOMES = ("archived", "already_there", "set_aside", "refused", "skipped", "open")
"""What becomes of source records, in the order in which every report tells it."""


@dataclass(frozen=True, slots=True)
class Phrases:
    """One language, as pages speak it; moments are told in a zone."""

    texts: Texts
    zone: str = "UTC"

    @property
    def lang(self) -> str:
        """The language, for the attribute `lang`."""
        return self.texts.lang

    def say(self, key: str, **data: object) -> str:
        """A sentence of the reading room, filled."""
        return self.texts.say(f"browse.{key}", **data)

    def has(self, key: str) -> bool:
        """True if a sentence is written."""
        return self.texts.has("say", f"browse.{key}")

    def count_of(self, key: str, count: int) -> str:
        """A number of things: "1 document", "12 345 documents"."""
        return self.say(f"{key}.{'one' if count == 1 else 'many'}", count=count)

    def number(self, number: int) -> str:
        """A number with its thousands apart."""
        return grouped(number)

    def size(self, size_bytes: int) -> str:
        """A number of bytes, its unit beside it."""
        return self.texts.size(size_bytes).replace(" ", "\u00a0")

    def date(self, value: str) -> str:
        """A date, or a moment, of ISO's form as people write it: 4 March 2011, 4. mars 2011; anything else as it is."""
        moment = zoned(value, self.zone)
        if moment is not None:
            day = self._day(moment.year, moment.month, moment.day)
            return f"{self.say('moment', day=day, time=f'{moment:%H:%M}')} {zone_name(moment)}"
        match = _DAY.fullmatch(value)
        if match is None or not 1 <= int(match[2]) <= 12:
            return plain(value)
        return self._day(int(match[1]), int(match[2]), int(match[3]))

    def _day(self, year: int, month: int, day: int) -> str:
        return self.say("date", day=day, month=self.say(f"month.{month}"), year=f"{year:04}")

    def exact(self, value: str) -> str:
        """A moment to the second with the offset of the zone; anything else as it is."""
        return exact(value, self.zone)

    def is_date(self, value: str) -> bool:
        """True for a date or a moment of ISO's form."""
        return self.is_moment(value) or _DAY.fullmatch(value) is not None

    def is_moment(self, value: str) -> bool:
        """True for a moment of ISO's form."""
        return zoned(value, self.zone) is not None

    def type_name(self, kind: str) -> str:
        """The name of a type in plain words; its own name where nobody gave it another."""
        return self._name_in("type", kind)

    def type_plural(self, kind: str, count: int) -> str:
        """What a number of items of a type are called, as it stands behind the number."""
        name = self._name_in("type" if count == 1 else "types", kind)
        return name[:1].lower() + name[1:]

    def kind_name(self, kind: str) -> str:
        """What kind of place this is."""
        return self._name_in("kind", kind)

    def state(self, state: str) -> str:
        """What became of an item in a run, in the words of every other report."""
        outcome = "archived" if state == "done" else state
        return self.texts.say(f"end.{outcome}") if outcome in OUTCOMES else self._name_in("state", state)

    def step(self, step: str) -> str:
        """A step in the life of a file."""
        return self._name_in("step", step)

    def layer(self, name: str) -> str:
        """Where in a document a word stands, but for the body."""
        return self.texts.say(f"layer.{name}")

    def event(self, name: str) -> str:
        """What a history calls a change: an event by its name, a field by its label."""
        is_event = self.texts.has("say", f"browse.step.{name.lower()}")
        return self.step(name.lower()) if is_event else " › ".join(map(self.field_label, name.split(".")))

    def field_label(self, name: str) -> str:
        """A field in plain words."""
        return field_label(self.texts, name)

    def finding(self, text: str) -> str:
        """What was found in a document before it was copied (`fields count=2`), in a few words."""
        code, _, numbers = text.partition(" ")
        values = [number.partition("=")[2] for number in numbers.split()]
        return finding_name(self.texts, code) + (f" ({', '.join(values)})" if values else "")

    def format_name(self, format_id: str) -> str:
        """What people call a format, by its PRONOM identifier or its ending."""
        is_puid = "fmt/" in format_id
        return format_name(self.texts, format_id if is_puid else "", "" if is_puid else format_id) or format_id

    def reason(self, text: str) -> str:
        """Why something is as it is, in this language."""
        return self.texts.reason(text)

    def says_the_same(self, label: str, name: str) -> bool:
        """True if a label is the name again: `"Tittel"` of `"tittel"`, `"Fjord kommune"` of itself."""
        label_letters, name_letters = (re.sub(r"[\W_]", "", text).lower() for text in (label, name))
        return label_letters == name_letters

    def fault(self, code: str) -> str:
        """What a code means, in one sentence."""
        if self.texts.has("codes", code):
            return self.texts.text("codes", code)
        if self.texts.has("faults", code, "what"):
            return self.texts.fill(self.texts.forms("faults", code, "what"), {})
        return code

    def _name_in(self, group: str, name: str) -> str:
        """A name of ours for something, else that of Noark's own name in plain words, else the name itself."""
        for known in (name, name[:1].upper() + name[1:]):
            key = f"browse.{group}.{known}"
            if self.texts.has("say", key):
                return self.texts.say(key)
        return known_label(self.texts, name) or plain(name)


@cache
def phrases(lang: str, zone: str = "UTC") -> Phrases:
    """What pages say in `lang`, with moments in `zone`."""
    return Phrases(texts(lang), zone)

"""Reads the sentences of a language once, and fills them with data.

A sentence has named fields in braces, and chooses words by a number: `{count} {count:file|files}`. A list of sentences
means the first whose fields are all there. Values come from outside, so control signs in them are shown and never acted
upon.

A language that is no whole one lies over another, and what it does not say the other says: Nynorsk over Bokmål.

`LANG.toml` and `LANG-AREA.toml` beside this module make one language: `[faults.F###]` with what, where, so_what and do,
`[reasons]` for the `why` of a fault, `[remedies]` for what to do about some of these, `[say]` for what the command line
says, and tables of their own for help.
"""

from __future__ import annotations

import string
import tomllib
import unicodedata
from collections import ChainMap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from noarkit.errors import NoarkitError
from noarkit.words.messages import errors_of_the_system, message_key

LANGUAGES = ("en", "nb")
"""The languages that are written whole."""
OVERLAYS: Mapping[str, str] = MappingProxyType({"nn": "nb"})
"""Those of which only a part is written, and the language that says the rest."""
SPOKEN = (*LANGUAGES, *OVERLAYS)
PARTS = ("what", "where", "so_what", "do")

_COUNTS = frozenset({"count", "limit"})
_OWN_REASONS = {"F220": "recipe", "F410": "recipe"}
"""Tables with the reasons of some faults alone: a word means there what it means nowhere else."""

Template = tuple[str, ...]


class SentenceMissing(KeyError):
    """A sentence that nobody wrote; says where it should stand, in words of ours alone."""


@dataclass(frozen=True, slots=True)
class Texts:
    """One language. `tables` holds everything, by table and key; a sentence is a tuple of its forms."""

    lang: str
    tables: Mapping[str, Mapping[str, object]]

    def say(self, key: str, **data: object) -> str:
        """A sentence of `[say]`, filled."""
        return self.fill(self.forms("say", key), data)

    def reason(self, key: object) -> str:
        """What a fault's `why` means: its sentence where there is one, else the word itself. What the system or a
        library said has one too."""
        text = str(key)
        sentence = self.tables["reasons"].get(errors_of_the_system().get(text, text))
        if isinstance(sentence, str):
            return sentence
        message = message_key(text) if "messages" in self.tables else None
        return plain(text) if message is None else self.fill(self.forms("messages", message[0]), message[1])

    def name_in_table(self, table: str, name: object) -> str:
        """A word of ours for a name, where there is one; else the name itself."""
        return self.say(f"{table}.{name}") if self.has("say", f"{table}.{name}") else plain(name)

    def why(self, code: object, data: Mapping[str, object]) -> str:
        """Why a fault arose, in the sentences of its own kind where it has some (a record that a recipe does not fit);
        empty where its data do not tell."""
        key = str(data.get("why") or "")
        own = _OWN_REASONS.get(str(code), "")
        if own and key and self.has(own, key):
            values = {"name": data.get("what"), **data}
            sentence = self.fill_whole(self.forms(own, key), values)
            if sentence:
                return sentence
        return self.reason(key) if key else ""

    def problem(self, key: str, data: Mapping[str, object]) -> str:
        """What is wrong with a recipe, as `recipe check` says it."""
        sentence = self.fill_whole(self.forms("recipe", key), data) if self.has("recipe", key) else ""
        more = ", ".join(f"{name} {value}" for name, value in data.items() if value not in ("", None))
        return sentence or self.reason(key) + (f" ({more})" if more else "")

    def fill_whole(self, forms: Template, data: Mapping[str, object]) -> str:
        """The first form whose fields are all given, filled; empty where none is."""
        given_names = {name for name, value in data.items() if value not in ("", None)}
        return self.fill(forms, data) if any(fields(form) <= given_names for form in forms) else ""

    def forms(self, *keys: str) -> Template:
        """The forms of a sentence, by its table and keys. Raises `SentenceMissing` for one nobody wrote."""
        node: object = self.tables
        for key in keys:
            if not isinstance(node, Mapping) or key not in node:
                raise SentenceMissing(f"words/{self.lang}*.toml, which has no {'.'.join(keys)}")
            node = node[key]
        return _template(node)

    def has(self, *keys: str) -> bool:
        """True if a sentence is written."""
        try:
            self.forms(*keys)
        except KeyError:
            return False
        return True

    def text(self, *keys: str) -> str:
        """A text that has no fields."""
        return self.forms(*keys)[0]

    def fill(self, forms: Template, data: Mapping[str, object]) -> str:
        """The first form whose fields are all given, filled; the last one with what there is, where none is."""
        values = {
            name: _CountedText(self._format_value(name, value))
            for name, value in data.items()
            if value is not None and value != ""
        }
        form = next((form for form in forms if fields(form) <= values.keys()), forms[-1])
        return form.format_map(_FieldValues(values))

    def size(self, size_bytes: int) -> str:
        """A number of bytes as people say it in this language: 1.9 TB, 1,9 TB."""
        amount, unit = float(size_bytes), "B"
        for larger in ("kB", "MB", "GB", "TB"):
            if amount < 1000:
                break
            amount, unit = amount / 1000, larger
        return f"{amount:.0f} B" if unit == "B" else f"{self.decimal(amount)} {unit}"

    def decimal(self, number: float) -> str:
        """A number with one decimal, behind the sign that this language uses."""
        return f"{number:.1f}".replace(".", "." if self.lang == "en" else ",")

    def duration(self, seconds: float) -> str:
        """A length of time as people say it."""
        minutes = round(seconds / 60)
        if seconds < 90:
            return self.say("time.seconds", n=round(seconds))
        if minutes < 120:
            return self.say("time.minutes", n=minutes)
        if minutes < 72 * 60:
            return self.say("time.hours", hours=minutes // 60, minutes=minutes % 60)
        return self.say("time.days", days=minutes // 1440, hours=minutes % 1440 // 60)

    def share(self, part: float) -> str:
        """A part of a whole in hundredths, as exactly as two decimals say it: 100, 2.5."""
        return f"{round(100 * part, 2):g}".replace(".", "." if self.lang == "en" else ",")

    def _format_value(self, name: str, value: object) -> str:
        if name in ("why", "description", "detail"):
            return self.reason(value).rstrip(".")
        if name == "what":
            sentence = self.reason(value)
            return sentence[:1].upper() + sentence[1:]
        if name in _COUNTS and isinstance(value, int):
            return grouped(value)
        return plain(value)


@cache
def texts(lang: str) -> Texts:
    """The texts of a language of `SPOKEN`, read once."""
    if lang not in SPOKEN:
        raise KeyError(lang)
    tables = _tables_of(lang)
    if lang in OVERLAYS:
        whole = texts(OVERLAYS[lang]).tables
        return Texts(lang, MappingProxyType({name: _laid_over(tables.get(name, {}), whole[name]) for name in whole}))
    return Texts(lang, MappingProxyType(tables))


def written_language(lang: str) -> str:
    """The language in which everything is written that `lang` does not say itself."""
    return OVERLAYS.get(lang, lang)


def template(name: str, lang: str) -> str:
    """The text of a file that people fill in, such as `package.toml`, in a language."""
    stem, _, suffix = name.partition(".")
    return files("noarkit.words").joinpath("templates", f"{stem}.{written_language(lang)}.{suffix}").read_text("utf-8")


def _tables_of(lang: str) -> dict[str, dict[str, object]]:
    tables: dict[str, dict[str, object]] = {}
    here = files("noarkit.words")
    for entry in sorted(here.iterdir(), key=lambda entry: entry.name):
        if entry.name == f"{lang}.toml" or (entry.name.startswith(f"{lang}-") and entry.name.endswith(".toml")):
            _merge(tables, tomllib.loads(entry.read_text("utf-8")), entry.name)
    return tables


def _laid_over(upper: Mapping[str, object], lower: Mapping[str, object]) -> Mapping[str, object]:
    """A table over another, and each table in it over the one of its name; what is added to the lower one is seen."""
    own: dict[str, object] = {}
    for key, entry in upper.items():
        beneath = lower.get(key)
        if isinstance(entry, Mapping) and isinstance(beneath, Mapping):
            own[key] = _laid_over(entry, beneath)
        else:
            own[key] = entry
    return ChainMap(own, lower)  # type: ignore[arg-type]  # nobody writes through it


def add_words(lang: str, more: Mapping[str, Mapping[str, object]]) -> None:
    """Adds the texts of what another package registered. Raises `ValueError` for what is written already, otherwise."""
    tables = texts(lang).tables
    for name, entries in more.items():
        table = tables[name]
        assert isinstance(table, dict)  # noqa: S101  # as it was read
        for key, entry in entries.items():
            if table.get(key, entry) != entry:
                raise ValueError(f"{name}.{key}")
        table.update(entries)


def render(fault: NoarkitError, lang: str) -> list[str]:
    """A fault in four lines: what happened (with its code), where, why that matters, and what to do."""
    catalog = texts(lang)
    data = {**fault.data, "why": catalog.why(fault.code, fault.data)} if fault.data.get("why") else dict(fault.data)
    cause = str(fault.data.get("what") or fault.data.get("why") or "")
    if catalog.has("remedies", cause) and not any(data.get(name) for name in ("do", "proposal")):
        data["do"] = catalog.fill(catalog.forms("remedies", cause), fault.data)
    if data.get("fix") is not None:
        data["do"] = _correction(catalog, data)
    lines = [catalog.fill(catalog.forms("faults", fault.code, part), data).replace("?.", "?") for part in PARTS]
    return [f"{fault.code}  {lines[0]}", *lines[1:]]


def _correction(catalog: Texts, data: Mapping[str, object]) -> str:
    """The line that corrects a fault of use, and what its reader adds to it."""
    name, details = str(data.get("own") or ""), {key: data.get(key) for key in ("example", "choices")}
    reader_value = catalog.say(f"own.{name}", **details) if name else None
    kind = "guess" if data.get("wrong") or data.get("is_guess") else "line"
    return catalog.say(
        f"fix.{kind}", fix=data["fix"], own=reader_value, **{name: data.get(name) for name in ("make", "choices")}
    )


def sentence(fault: NoarkitError, lang: str = "en") -> str:
    """A fault in one line: what happened, its code, and where."""
    if not texts(lang).has("faults", fault.code, "what"):
        return fault.describe()
    what, where = (line.rstrip(".") for line in render(fault, lang)[:2])
    return f"{what.partition('  ')[2]} ({fault.code}): {where}"


def explain(code: str, lang: str) -> list[str] | None:
    """What a code means where nothing is known of a case; None for a code there is not."""
    catalog = texts(lang)
    if not catalog.has("faults", code, "what"):
        return None
    return [catalog.fill(catalog.forms("faults", code, part), {}) for part in PARTS]


def fields(form: str) -> set[str]:
    """The names of the fields of a sentence."""
    return {name for _, name, _, _ in string.Formatter().parse(form) if name}


def plain(value: object) -> str:
    """A value as it may be shown on a terminal or in a log: no control signs, no halves of a letter, no turned text."""
    text = str(value)
    return text if text.isprintable() else "".join(_visible(sign) for sign in text)


def grouped(number: int) -> str:
    """A number with its thousands apart, by a space that does not break."""
    return f"{number:,}".replace(",", "\u00a0") if abs(number) >= 10_000 else str(number)


def _visible(sign: str) -> str:
    if "\udc80" <= sign <= "\udcff":
        return f"%{ord(sign) - 0xDC00:02X}"
    if unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
        return f"\\u{ord(sign):04x}"
    return sign


class _CountedText(str):
    """A value that chooses a word by its number: `{count:file|files}` is the first for 1, and else the second."""

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        one, bar, many = spec.partition("|")
        if not bar:
            return super().__format__(spec)
        return one if self.strip() == "1" else many


class _FieldValues(dict[str, str]):
    def __missing__(self, name: str) -> str:
        return _CountedText("…")


def _template(value: object) -> Template:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list) and value and all(isinstance(form, str) for form in value):
        return tuple(value)
    raise KeyError(str(value))


def _merge(tables: dict[str, dict[str, object]], more: Mapping[str, object], file: str) -> None:
    for name, entries in _tables(more):
        table = tables.setdefault(name, {})
        twice = table.keys() & entries.keys()
        if twice:
            raise ValueError(f"{file} writes {name}.{min(twice)} a second time")
        table.update(entries)


def _tables(data: Mapping[str, object]) -> Iterable[tuple[str, Mapping[str, object]]]:
    for name, entries in data.items():
        if not isinstance(entries, Mapping):
            raise ValueError(f"{name} stands outside a table")
        yield name, entries

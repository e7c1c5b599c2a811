"""One pass through arkivstruktur.xml in constant memory: every element once, every unit judged when it closes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
from xml.parsers import expat

from noarkit.errors import UnsafeXml
from noarkit.model.xml_model import Version, xml_model
from noarkit.packages.noark5 import spec
from noarkit.safe.sax import check_text, event_parser, feed
from noarkit.safe.xml import LIMITS
from noarkit.validate.findings import Tally
from noarkit.validate.noark5.sight import FILE, Bounds, Frame, Sight
from noarkit.validate.noark5.store import Store
from noarkit.validate.noark5.units import CLOSERS
from noarkit.validate.noark5.values import codes, keys

EARLIEST = "1500"
REFERENCES: Mapping[str, tuple[str, str]] = {
    "referanseArkivdel": ("N304", "arkivdel"),
    "referanseSekundaerKlassifikasjon": ("N305", "klasse"),
    "referanseTilKlasse": ("N306", "klasse"),
    "referanseTilMappe": ("N306", "mappe"),
    "referanseTilRegistrering": ("N306", "registrering"),
    "referanseAvskrivesAvJournalpost": ("N307", "registrering"),
    "referanseForrigeMoete": ("N308", "mappe"),
    "referanseNesteMoete": ("N308", "mappe"),
    "referanseTilMoeteregistrering": ("N308", "registrering"),
    "referanseFraMoeteregistrering": ("N308", "registrering"),
    "referanseForloeper": ("N309", "arkivdel"),
    "referanseArvtaker": ("N309", "arkivdel"),
}
"""Fields that point at another unit: the rule for those that point at nothing, and what they must point at."""

_NAMES = (
    "opprettetAv",
    "avsluttetAv",
    "arkivertAv",
    "tilknyttetAv",
    "saksansvarlig",
    "saksbehandler",
    "merknadRegistrertAv",
    "avskrevetAv",
    "moetedeltakerNavn",
    "konvertertAv",
    "kassertAv",
    "slettetAv",
    "gradertAv",
    "nedgradertAv",
    "verifisertAv",
    "forfatter",
    "kontaktperson",
    "presedensGodkjentAv",
    "flytTil",
    "flytFra",
)
_KEPT = (
    "systemID",
    "tittel",
    "klasseID",
    "arkivskaperNavn",
    "referanseDokumentfil",
    "sjekksum",
    "sjekksumAlgoritme",
    "filstoerrelse",
    "format",
    "journalaar",
    "journalsekvensnummer",
    "journalpostnummer",
    "saksaar",
    "sakssekvensnummer",
    "saksstatus",
    "journalstatus",
    "dokumentstatus",
    "arkivstatus",
    "arkivdelstatus",
    "journalposttype",
    "korrespondanseparttype",
    "tilknyttetRegistreringSom",
    "dokumentmedium",
    "kassasjonsvedtak",
)
_AHEAD = frozenset({"kassasjonsdato", "skjermingOpphoererDato", "nedgraderingsdato"})
"""What is decided long before it comes to pass."""

_LATEST = "2500"
_STRANGE = frozenset('<>{}[]|\\"§=@*#')
_MOST_NAMES = 10_000
_KEEP, _DATE, _CODE, _REFERENCE, _NAME, _MANY, _GROUP = range(7)
_PREFIX = f"{spec.namespace(spec.STRUCTURE)} "
_TYPE = f"{spec.XSI_NAMESPACE} type"
_VSM = "virksomhetsspesifikkeMetadata"

Leaf = tuple[int, str, AbstractSet[str]]


@dataclass(frozen=True, slots=True)
class Prologue:
    """How a document says it is written; None where it does not say."""

    xml_version: str
    encoding: str | None


def walk_structure(file: BinaryIO, version: Version, bounds: Bounds, store: Store, tally: Tally) -> Iterator[Sight]:
    """Yields what is in sight after each block, so that others get their turn; whole when it ends."""
    parser = event_parser(FILE)
    sight = Sight(version, bounds, store, tally, lambda: parser.CurrentByteIndex)
    handlers = _Handlers(parser, sight)
    for _ in feed(parser, file, FILE):
        handlers.check_texts()
        yield sight
    yield sight


def watch_prologue(parser: expat.XMLParserType, tally: Tally, file: str) -> None:
    """Tells of a document that is not XML 1.0 in UTF-8."""

    def declared(version: str, encoding: str | None, standalone: int) -> None:
        if version != "1.0" or (encoding or "UTF-8").upper() not in ("UTF-8", "UTF8"):
            tally.add("N008", file, (parser.CurrentByteIndex, None), value=f"{version} {encoding or ''}".strip())

    parser.XmlDeclHandler = declared


class _Handlers:
    """The callbacks of one parser. They are closures over locals, for they run some hundred million times."""

    def __init__(self, parser: expat.XMLParserType, sight: Sight) -> None:
        self._parser = parser
        self._sight = sight
        self._chunks: list[str] = []
        self._known_names: set[str] = set()
        self._twice: Frame | None = None
        self._containers = {f"{spec.namespace(spec.STRUCTURE)} {name}": name for name in CLOSERS}
        self._containers[f"{spec.namespace(spec.STRUCTURE)} {_VSM}"] = _VSM
        self._known = leaves(sight.version)
        names = self._known_names
        for name, (kind, key, allowed) in self._known.items():
            self._known[name] = (kind, key, names if kind == _NAME else allowed)
        for name, group in self._containers.items():
            self._known[name] = (_GROUP, group, names)
        self._start, self._end = self._callbacks()
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._chunks.append
        watch_prologue(parser, sight.tally, FILE)

    def check_texts(self) -> None:
        """Refuses a text that never ends."""
        check_text(self._chunks, self._parser, FILE)

    def _callbacks(self) -> tuple[Callable[[str, dict[str, str]], None], Callable[[str], None]]:
        container, known = self._containers.get, self._known.get
        chunks, open_, close, sight = self._chunks, self._open, self._close, self._sight
        clear, act, empty, join = chunks.clear, self._act, self._empty, "".join
        doubt, today = self._doubt, sight.bounds.today
        depth, childless = 0, False
        deepest = LIMITS.max_depth

        def start(name: str, attributes: dict[str, str]) -> None:
            nonlocal depth, childless
            depth += 1
            if depth > deepest:
                raise UnsafeXml(where=FILE, why="depth", line=self._parser.CurrentLineNumber)
            clear()
            kind = container(name)
            childless = kind is not None and open_(kind, attributes)

        def end(name: str) -> None:
            nonlocal depth, childless
            depth -= 1
            what = known(name)
            if what is not None and what[0] == _GROUP and close(what[1], childless):
                childless = False
                return
            text = join(chunks)
            if not text or text.isspace():
                if not childless:
                    empty(name)
            elif what is not None:
                kind, key, allowed = what
                if kind <= _CODE:
                    sight.frame.values[key] = text
                    if kind != _KEEP and not (EARLIEST < text <= today if kind == _DATE else text in allowed):
                        doubt(kind, key, text)
                elif kind != _NAME or text not in allowed:
                    act(kind, key, text)

        return start, end

    def _open(self, kind: str, attributes: dict[str, str]) -> bool:
        sight = self._sight
        above = sight.frame
        if kind == _VSM:
            self._enter_vsm()
            return False
        if kind == "gradering" and above.kind == kind:
            self._twice = above  # before 5.0 the field of a gradering has the name of the gradering
            return False
        frame = Frame(kind, _local(attributes.get(_TYPE)), sight.byte())
        inner = above.inner
        if above.kind == "klasse":
            _mixture(above, kind, frame.at)
        inner[kind] = inner.get(kind, 0) + 1
        frame.level = above.level + 1 if above.kind == kind else 1
        if above.kind == "arkivdel":
            sight.series = above.values.get("tittel", "")
        sight.stack.append(frame)
        sight.frame = frame
        return True

    def _close(self, kind: str, childless: bool) -> bool:
        sight = self._sight
        frame = sight.frame
        if frame.kind != kind:
            return True
        if frame is self._twice:
            self._twice = None
            return False
        if childless:
            sight.hit("N009", element=kind)
        closer = CLOSERS[kind]
        parent = sight.stack[-2]
        if closer is not None:
            closer(sight, frame, parent)
        sight.stack.pop()
        sight.frame = parent
        return True

    def _doubt(self, kind: int, name: str, text: str) -> None:
        """A date or a code that is not what one expects."""
        sight = self._sight
        if kind == _CODE:
            sight.hit("N331" if text in keys().get(name, ()) else "N330", element=name, value=text)
        elif name not in _AHEAD or not EARLIEST < text <= _LATEST:
            sight.hit("N341", element=name, value=text)

    def _act(self, kind: int, name: str, text: str) -> None:
        """A field of several values, a reference, or a name that was not met before."""
        sight = self._sight
        if kind == _REFERENCE:
            sight.refer(_REFERENCE_NUMBER[name], text)
        elif kind == _NAME:
            self._judge_name(name, text)
        elif kind == _MANY:
            values = sight.frame.values
            values[name] = f"{values.get(name, '')}|{text}"
            if text not in self._known[_PREFIX + name][2]:
                self._doubt(_CODE, name, text)

    def _judge_name(self, name: str, text: str) -> None:
        if _STRANGE.intersection(text) or not any(sign.isalpha() for sign in text):
            self._sight.hit("N350", element=name, value=text)
        elif len(self._known_names) < _MOST_NAMES:
            self._known_names.add(text)

    def _empty(self, name: str) -> None:
        namespace, _, local = name.rpartition(" ")
        if namespace == spec.namespace(spec.STRUCTURE):
            self._sight.hit("N009", element=local)

    def _enter_vsm(self) -> None:
        """Inside lie elements of others: their namespaces are noted, and nothing else."""
        parser, sight, depth = self._parser, self._sight, 1

        def start(name: str, attributes: dict[str, str]) -> None:
            nonlocal depth
            depth += 1
            if depth > LIMITS.max_depth:
                raise UnsafeXml(where=FILE, why="depth", line=parser.CurrentLineNumber)
            if depth == 2 and len(sight.vsm) < 100:
                sight.vsm.add(name.rpartition(" ")[0])

        def end(name: str) -> None:
            nonlocal depth
            depth -= 1
            self._chunks.clear()
            if depth == 0:
                parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
                self._end(f"{spec.namespace(spec.STRUCTURE)} {_VSM}")

        sight.frame.inner[_VSM] = 1
        sight.counts.add("N944", sight.frame.kind)
        parser.StartElementHandler, parser.EndElementHandler = start, end


_REFERENCE_NUMBER = {name: number for number, name in enumerate(REFERENCES)}


def leaves(version: Version) -> dict[str, Leaf]:
    """What is done with each leaf, by its name with namespace; of others is only asked that they hold something."""
    none: frozenset[str] = frozenset()
    found: dict[str, Leaf] = {name: (_KEEP, name, none) for name in _KEPT}
    found |= {name: (_NAME, name, none) for name in _NAMES}
    for value in xml_model(version).values.values():
        if value.kind in ("date", "dateTime", "moment"):
            found[value.name] = (_DATE, value.name, none)
    for name, texts in codes(version).items():
        found[name] = (_MANY if name == "skjermingMetadata" else _CODE, name, texts)
    found |= {name: (_REFERENCE, name, none) for name in REFERENCES}
    return {_PREFIX + name: leaf for name, leaf in found.items()}


def _mixture(above: Frame, kind: str, at: int) -> None:
    """A class holds one kind of thing; the first of another kind is remembered."""
    if above.mixed is not None or kind not in ("klasse", "mappe", "registrering"):
        return
    inner = above.inner
    if (kind == "klasse" and inner.get("mappe")) or (kind == "mappe" and inner.get("klasse")):
        above.mixed = ("N311", at)
    elif (kind == "klasse" and inner.get("registrering")) or (kind == "registrering" and inner.get("klasse")):
        above.mixed = ("N312", at)


def _local(type_: str | None) -> str:
    return type_.rpartition(":")[2] if type_ else ""


def structure_file(root: Path) -> Path:
    """Where arkivstruktur.xml lies."""
    return root / FILE

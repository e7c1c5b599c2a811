"""Random archives: every type and every field that version 5.0 can express, in any of the places they may stand."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from noarkit.archive.administration import Administration
from noarkit.archive.registers import BusinessField, BusinessGroup, ListedCode
from noarkit.archive.values import Action, FieldValue, Link, Save, bytes_to_upload
from noarkit.loading.finality import BY_DATE, STATUS
from noarkit.model import Field, metamodel
from noarkit.model.mapping import mapping
from tests.roundtrip.circle import WholeArchive

_LETTERS = "abcæøåÆØÅ &<>\"'§;:/\\.,-–\n\t\r 0123456789€🗄"
_FIRST = datetime(1950, 1, 1, tzinfo=UTC)
_DAYS = 28_000
_NEW_CODES = {
    "administrativEnhet": ("A & B", "avd/1", "Æ"),
    "dokumenttype": ("Brev <type>", "x"),
    "merknadstype": ("Påminnelse",),
    "kassasjonshjemmel": ("§ 1",),
    "moeteregistreringsstatus": ("Utsatt",),
    "presedensHjemmel": ("Hjemmel",),
    "rettskildefaktor": ("Lov",),
    "dokumentmedium": ("Fysisk medium",),
}
_GROUPS = (
    BusinessGroup("bygg", "Bygg & eiendom", None, (BusinessField("gnr", "Gnr", "long"), BusinessField("eier", "Eier"))),
    BusinessGroup(
        "annet", "Annet", None, (BusinessField("sann", "Sann?", "boolean"), BusinessField("tall", "T", "double"))
    ),
)
_FOLDERS = ("Mappe", "Saksmappe", "Moetemappe")
_RECORDS = ("Basisregistrering", "Journalpost", "Arkivnotat", "Moeteregistrering")
_WITHIN = {
    "Saksmappe": ("Journalpost", "Basisregistrering", "Arkivnotat"),
    "Moetemappe": ("Moeteregistrering", "Basisregistrering"),
}


@dataclass
class World:
    """The actions that make an archive, in their order, and what was made."""

    rng: random.Random
    archive: WholeArchive
    actions: list[Action] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    made: dict[str, list[str]] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=lambda: iter(range(1, 1_000_000)))

    def chance(self, share: float = 0.5) -> bool:
        """True in about that share of cases."""
        return self.rng.random() < share

    def units(self) -> int:
        """How many folders and records were made."""
        return sum(len(self.made.get(kind, ())) for kind in (*_FOLDERS, *_RECORDS))

    def thing(self, kind: str, *links: tuple[str, str], **fixed: FieldValue) -> str:
        """An object of a type with fields at random."""
        name = f"t{next(self._numbers)}"
        self.actions.append(Save(kind, name, {**self._fields(kind), **fixed}))
        self.actions.extend(Link(kind, name, link, (other,)) for link, other in links)
        self.made.setdefault(kind, []).append(name)
        return name

    def _fields(self, kind: str) -> dict[str, FieldValue]:
        told = mapping().types[kind].fields
        found: dict[str, FieldValue] = {}
        for name, one in metamodel().types[kind].fields.items():
            if one.save == "sm" or name in ("uuid", "referanseDokumentfil"):
                continue
            needed = one.need == "must" and not one.has_default
            if needed or (told[name].path is not None and self.chance(0.6)):
                value = self.value(one)
                if value is not None:
                    found[name] = value
        if "uuid" in told and told["uuid"].path is not None:
            found["uuid"] = str(uuid.UUID(int=self.rng.getrandbits(128), version=4))
        return _sound(kind, found)

    def value(self, one: Field) -> FieldValue:
        if one.code_list:
            return self.rng.choice(self._codes(one.code_list)) if self._codes(one.code_list) else None
        match one.kind:
            case "number":
                return self.rng.choice((1, 2, 10, 1999, 2024))
            case "boolean":
                return self.chance()
            case "date":
                return self._moment().date().isoformat()
            case "timestamp":
                return self._moment().strftime("%Y-%m-%dT%H:%M:%S.") + self.rng.choice(("000Z", "120Z"))
            case "object":
                return self._business()
        return self.rng.choice(one.values) if one.values else self.text()

    def _codes(self, name: str) -> tuple[str, ...]:
        own = tuple(code.code for code in metamodel().code_lists[name].codes)
        return (
            *own,
            *(f"k{n}" for n in range(len(_NEW_CODES.get(name, ())))),
            *(("S1", "S2") if name == "skjerming" else ()),
        )

    def _moment(self) -> datetime:
        return _FIRST + timedelta(days=self.rng.randrange(_DAYS), seconds=self.rng.randrange(86_400))

    def _business(self) -> dict[str, object]:
        kinds: dict[str, Callable[[], object]] = {
            "long": lambda: self.rng.randrange(-5, 10**12),
            "double": lambda: self.rng.choice((0.5, 1e21, -3.0)),
            "boolean": self.chance,
            "string": self.text,
        }
        group = self.rng.choice(_GROUPS)
        fields = [one for one in group.fields if self.chance(0.7)] or [group.fields[0]]
        return {
            group.id: {
                one.id: {"values": [kinds[one.kind]() for _ in range(self.rng.randrange(1, 3))]} for one in fields
            }
        }

    def text(self) -> str:
        """A text with any sign in it that XML can hold, and something besides blanks."""
        some = "".join(self.rng.choice(_LETTERS) for _ in range(self.rng.randrange(12)))
        return some + self.rng.choice("abcæ")

    def file(self) -> str:
        """A file of the archive."""
        content = self.rng.randbytes(self.rng.randrange(200))
        return self.archive.upload(bytes_to_upload(content, f"fil{self.rng.randrange(9)}.txt")).id


def _sound(kind: str, found: dict[str, FieldValue]) -> dict[str, FieldValue]:
    """What goes together, together: an author of a closing has its date, and an end is final."""
    if kind in STATUS:
        name, final = STATUS[kind]
        found[name] = final
    if kind in STATUS or kind in BY_DATE:
        found.setdefault("avsluttetDato", "2020-05-05T10:00:00.000Z")
    if "kassasjonsvedtak" not in found:
        found.pop("kassasjonshjemmel", None)
        found.pop("bevaringstid", None)
    if kind == "Dokument":
        for name in ("avsluttetDato", "avsluttetAv", "virksomhetsspesifikkeMetadata"):
            found.pop(name, None)
    return found


def prepare(archive: WholeArchive) -> None:
    """The registers of an archive before anything stands in it."""
    administration = Administration(archive)
    for name, codes in _NEW_CODES.items():
        for place, text in enumerate(codes):
            administration.put_code(name, ListedCode(f"k{place}", text))
    administration.put_code("skjerming", ListedCode("S1", "Unntatt <1>", authority="Offl. § 13"))
    administration.put_code("skjerming", ListedCode("S2", "Uten hjemmel"))
    for group in _GROUPS:
        administration.put_business_group(group)
        for one in group.fields:
            administration.put_business_field(group.id, one)


def build(rng: random.Random, archive: WholeArchive) -> World:
    """A closed archive of a fonds; everything goes in at once, and some of it is changed afterwards."""
    prepare(archive)
    world = imagined(rng, archive)
    saved = archive.transaction(world.actions)
    for _ in range(rng.randrange(4)):
        _revise(world, {name: one.id for name, one in saved.items()})
    return world


def imagined(rng: random.Random, archive: WholeArchive) -> World:
    """What is to be made; only its files are in the archive."""
    world = World(rng, archive)
    fonds = world.thing("Arkiv")
    for _ in range(rng.randrange(1, 3)):
        world.thing("Arkivskaper", ("refArkiv", fonds))
    earlier = ""
    for _ in range(rng.randrange(1, 4)):
        earlier = _series(world, fonds, earlier)
    _cross(world)
    return world


def _revise(world: World, ids: Mapping[str, str]) -> None:
    """A change that the change log tells: of a text, a code or a day."""
    kinds = [kind for kind in ("Arkivdel", "Klasse", "Saksmappe", "Journalpost", "Dokument") if kind in world.made]
    kind = world.rng.choice(kinds)
    field = world.rng.choice(("tittel", "beskrivelse", "skjerming", "opprettetDato", "bevaringstid"))
    known = metamodel().types[kind].fields
    if field not in known:
        field = "tittel"
    value = world.value(known[field])
    world.archive.transaction([Save(kind, ids[world.rng.choice(world.made[kind])], {field: value})])


def _series(world: World, fonds: str, earlier: str) -> str:
    series = world.thing("Arkivdel", ("refArkiv", fonds))
    if earlier and world.chance():
        world.actions.append(Link("Arkivdel", series, "refArkivdelForloeper", (earlier,)))
    classes: list[str] = []
    if world.chance(0.8):
        system = world.thing("Klassifikasjonssystem")
        world.actions.append(Link("Arkivdel", series, "refPrimaerKlassifikasjonssystem", (system,)))
        classes = list(_classes(world, system, "", 0))
    secondary: list[str] = []
    if classes and world.chance(0.3):
        system = world.thing("Klassifikasjonssystem")
        world.actions.append(Link("Arkivdel", series, "refSekundaerKlassifikasjonssystem", (system,)))
        secondary = list(_classes(world, system, "", 1))
    for _ in range(world.rng.randrange(4)):
        _folder(world, series, classes, secondary)
    for _ in range(world.rng.randrange(3)):
        kind = world.rng.choice(_RECORDS)
        links = [("refArkivdel", series)]
        if classes and world.chance():
            links.append(("refPrimaerKlasse", world.rng.choice(classes)))
        _record(world, kind, links)
    return series


def _classes(world: World, system: str, above: str, depth: int) -> Iterator[str]:
    """Classes of a system, or below another; those without classes below them are given back."""
    for place in range(world.rng.randrange(1, 3)):
        links = [("refKlassifikasjonssystem", system), *([("refForelderKlasse", above)] if above else [])]
        ident = f"{world.text()}{len(world.made.get('Klasse', ()))}.{place}"
        made = world.thing("Klasse", *links, klasseIdent=ident)
        below = list(_classes(world, system, made, depth + 1)) if depth < 2 and world.chance(0.4) else []
        yield from below or (made,)


def _folder(
    world: World, series: str, classes: list[str], secondary: list[str], above: str = "", depth: int = 0
) -> None:
    kinds = ["Mappe"] if above else ["Mappe", "Moetemappe", *(["Saksmappe"] if classes else [])]
    kind = world.rng.choice(kinds)
    links = [("refForelderMappe", above) if above else ("refArkivdel", series)]
    if classes and not above and (kind == "Saksmappe" or world.chance()):
        links.append(("refPrimaerKlasse", world.rng.choice(classes)))
        if kind == "Saksmappe" and secondary and world.chance():
            links.append(("refSekundaerKlasse", world.rng.choice(secondary)))
    folder = world.thing(kind, *links)
    _belongings(world, "refMappe", folder)
    for _ in range(world.rng.randrange(3)):
        world.thing("Sakspart", ("refMappe", folder))
    if kind == "Moetemappe":
        for _ in range(world.rng.randrange(1, 3)):
            world.thing("Moetedeltaker", ("refMappe", folder))
    if kind == "Saksmappe" and world.chance(0.3):
        world.thing("Presedens", ("refSaksmappe", folder))
    if kind == "Mappe" and depth < 2 and world.chance(0.3):
        for _ in range(world.rng.randrange(1, 3)):
            _folder(world, series, classes, secondary, folder, depth=depth + 1)
        return
    own = {
        "Saksmappe": ("Journalpost", "Basisregistrering", "Arkivnotat"),
        "Moetemappe": ("Moeteregistrering", "Basisregistrering"),
    }
    for _ in range(world.rng.randrange(4)):
        _record(world, world.rng.choice(own.get(kind, ("Basisregistrering",))), [("refMappe", folder)])


def _record(world: World, kind: str, links: list[tuple[str, str]]) -> None:
    record = world.thing(kind, *links)
    _belongings(world, "refRegistrering", record)
    for _ in range(world.rng.randrange(1, 3) if kind == "Journalpost" or world.chance(0.3) else 0):
        world.thing("Korrespondansepart", ("refRegistrering", record))
    flow = {"Journalpost": "refJournalpost", "Arkivnotat": "refArkivnotat"}.get(kind)
    if flow and world.chance(0.4):
        world.thing("Dokumentflyt", (flow, record))
    if kind == "Journalpost":
        if world.chance(0.3):
            world.thing("Presedens", ("refJournalpost", record))
        if world.chance(0.4):
            world.thing("Avskrivning", ("refJournalpost", record))
    for number in range(world.rng.randrange(3)):
        document = world.thing("Dokument", ("refRegistrering", record), dokumentnummer=number + 1)
        if world.chance(0.3):
            world.thing("Merknad", ("refDokument", document))
        for version in range(world.rng.randrange(3)):
            world.thing(
                "Dokumentversjon",
                ("refDokument", document),
                versjonsnummer=version + 1,
                format=world.rng.choice(("pdf", "txt", "fmt/95")),
                referanseDokumentfil=world.file(),
            )


def _belongings(world: World, link: str, owner: str) -> None:
    for _ in range(world.rng.randrange(3)):
        world.thing("Noekkelord", (link, owner))
    for _ in range(world.rng.randrange(2)):
        world.thing("Merknad", (link, owner))


def _cross(world: World) -> None:
    """Cross references, and which posts answer which."""
    units = {
        "refKryssreferanseTilMappe": [name for kind in _FOLDERS for name in world.made.get(kind, ())],
        "refKryssreferanseTilRegistrering": [name for kind in _RECORDS for name in world.made.get(kind, ())],
    }
    for kind in (*_FOLDERS, *_RECORDS):
        for name in world.made.get(kind, ()):
            for link, others in units.items():
                if world.chance(0.2) and others and (other := world.rng.choice(others)) != name:
                    world.actions.append(Link(kind, name, link, (other,)))
    posts = world.made.get("Journalpost", ())
    for name in world.made.get("Avskrivning", ()):
        if world.chance():
            world.actions.append(Link("Avskrivning", name, "refTilknyttetJournalpost", (world.rng.choice(posts),)))

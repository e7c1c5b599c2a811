"""loependeJournal.xml and offentligJournal.xml: each journal post as one entry of both, by year and number.

What the archive withholds from the public is a mask in the public journal: of a unit that is screened, or that stands
in one that is. Elements that came with the maintenance of 2023 are not written, so that either edition takes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from noarkit.model.mapping import mapping
from noarkit.packages.noark5.content import Codes, Content, Thing
from noarkit.packages.noark5.moments import Moments
from noarkit.packages.noark5.screened import withheld_name, withheld_title
from noarkit.packages.noark5.spec import PUBLIC_JOURNAL, RUNNING_JOURNAL
from noarkit.packages.noark5.write import namespaces

SELECTION = "journaldato"


@dataclass(frozen=True, slots=True)
class JournalHead:
    """What a journal begins with; `creators` are the arkivskapere of the fonds."""

    start: str
    end: str
    entries: int
    creators: tuple[Thing, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """A case file with its class, as both journals tell them; `screened` where it or what is above it is."""

    running: str
    public: str
    screened: bool


class Journals:
    """Entries as text, for the running journal and for the public one."""

    def __init__(self, codes: Codes, moments: Moments, missing: Callable[[], None]) -> None:
        words = mapping().words.texts
        self._codes = codes
        self._kinds = codes.of("korrespondanseparttype")
        self._moments = moments
        self._mask, self._unknown = words["masked"], words["unknown"]
        self._missing = missing

    def case(self, folder: Content, klasse: Content | None, *, screened_above: bool) -> Case:
        """A case file; what is above it is its classes and its series."""
        fields = folder["o"]["f"]
        screened = screened_above or "skjerming" in fields
        numbers = _one("saksaar", fields.get("saksaar", 0)) + _one(
            "sakssekvensnummer", fields.get("sakssekvensnummer", 0)
        )
        running = public = ""
        if klasse is not None:
            of_class = klasse["o"]["f"]
            ident, title = of_class.get("klasseIdent", self._unknown), of_class.get("tittel", self._unknown)
            parts = _screened(klasse["o"])
            running = f"<klasse>\n{_one('klasseID', ident)}{_one('tittel', title)}{parts}</klasse>\n"
            hidden = screened_above
            told = [self._mask if hidden else str(one) for one in (ident, title)]
            public = f"<klasse>\n{_one('klasseID', told[0])}{_one('tittel', told[1])}</klasse>\n"
        own = _screened(folder["o"])
        title = _one("tittel", fields.get("tittel", self._unknown)) + _one(
            "offentligTittel", fields.get("offentligTittel")
        )
        running += f"<saksmappe>\n{numbers}{title}{own}</saksmappe>\n"
        public_title = _one("offentligTittel", self._public_title(fields, screened=screened))
        public += f"<saksmappe>\n{numbers}{public_title}</saksmappe>\n"
        return Case(running, public, screened)

    def entry(self, post: Content, case: Case) -> tuple[str, str]:
        """One journal post for each of the journals."""
        fields = post["o"]["f"]
        get = fields.get
        own = "skjerming" in fields
        screened = own or case.screened
        numbers = (
            f"{_one('systemID', get('uuid'))}{_one('journalaar', get('journalaar', 0))}"
            f"{_one('journalsekvensnummer', get('journalsekvensnummer', 0))}"
            f"{_one('journalpostnummer', get('journalpostnummer', 0))}"
        )
        title, told_title = get("tittel", self._unknown), get("offentligTittel")
        public_title = told_title or (self._mask if screened else get("tittel"))
        told_title = _one("offentligTittel", told_title)
        screening = _screened(post["o"])
        parts = post.get("p", ())
        facts = self._facts(fields, parts)
        parties: list[Thing] = [one for one in parts if one["t"] == "Korrespondansepart"]
        if not parties:
            self._missing()
            parties = [{"t": "Korrespondansepart", "f": {}}]
        all_hidden = screened or get("skjermKorrespondanseParterEInnsyn") is True
        to_all = self._parties(parties, mask=None, screened=own)
        to_public = to_all
        if all_hidden or any(one["f"].get("skjermEInnsyn") is True for one in parties):
            to_public = self._parties(parties, mask=all_hidden, screened=False)
        return (
            f"<journalregistrering>\n{case.running}<journalpost>\n{numbers}{_one('tittel', title)}{told_title}"
            f"{screening}{facts}{to_all}</journalpost>\n</journalregistrering>\n",
            f"<journalregistrering>\n{case.public}<journalpost>\n{numbers}{_one('offentligTittel', public_title)}"
            f"{screening}{facts}{to_public}</journalpost>\n</journalregistrering>\n",
        )

    def head(self, document: str, head: JournalHead) -> str:
        """The root's tag and the head of a journal."""
        creators = "".join(
            f"<arkivskaper>\n{_one('arkivskaperID', one['f'].get('arkivskaperIdent', self._unknown))}"
            f"{_one('arkivskaperNavn', one['f'].get('arkivskaperNavn', self._unknown))}"
            f"{_one('beskrivelse', one['f'].get('beskrivelse'))}</arkivskaper>\n"
            for one in head.creators
        )
        return (
            f'<?xml version="1.0" encoding="UTF-8"?>\n<{document} {namespaces(document)}>\n<journalhode>\n'
            f"{_one('journalStartDato', head.start)}{_one('journalSluttDato', head.end)}{_one('seleksjon', SELECTION)}"
            f"{_one('antallJournalposter', head.entries)}{creators}</journalhode>\n"
        )

    def _facts(self, fields: dict[str, object], parts: Iterable[Thing]) -> str:
        day = self._moments.day
        out = _one("journaldato", day(fields.get("registreringsDato") or fields.get("opprettetDato", "")))
        written = fields.get("dokumentetsDato")
        if written:
            out += _one("dokumentetsDato", day(written))
        signed_off = [one for one in parts if one["t"] == "Avskrivning"]
        if signed_off:
            out += self._sign_off(signed_off)
        code = fields.get("skjerming")
        if code:
            out += _one("tilgangsrestriksjon", self._codes.of("skjerming").get(str(code), code))
            out += _one("skjermingshjemmel", self._codes.authorities.get(str(code)) or self._unknown)
        return out

    def _sign_off(self, found: list[Thing]) -> str:
        """Of several, the earliest."""
        first = min(found, key=lambda one: (str(one["f"].get("opprettetDato")), str(one["f"].get("avskrivningsmaate"))))
        fields = first["f"]
        code = fields.get("avskrivningsmaate", self._unknown)
        way = self._codes.of("avskrivningsmaate").get(str(code), code)
        linked = sorted(link["u"] for link in first.get("k", []) if link["n"] == "refTilknyttetJournalpost")
        return (
            _one("avskrivningsdato", self._moments.day(fields.get("opprettetDato", "")))
            + _one("avskrivningsmaate", way)
            + _one("referanseAvskrivesAvJournalpost", linked[0] if linked else None)
        )

    def _parties(self, parties: list[Thing], *, mask: bool | None, screened: bool) -> str:
        told = []
        for party in parties:
            fields = party["f"]
            screening = _one("skjermingMetadata", withheld_name(party)) if screened else ""
            code = fields.get("korrespondanseparttype", self._unknown)
            kind = self._kinds.get(str(code), code)
            name = fields.get("korrespondansepartNavn", self._unknown)
            if mask or (mask is False and fields.get("skjermEInnsyn") is True):
                name = self._mask
            told.append(
                f"<korrespondansepart>\n{_one('korrespondanseparttype', kind)}{_one('korrespondansepartNavn', name)}"
                f"{screening}</korrespondansepart>\n"
            )
        return told[0] if len(told) == 1 else "".join(sorted(told))

    def _public_title(self, fields: dict[str, object], *, screened: bool) -> object:
        return fields.get("offentligTittel") or (self._mask if screened else fields.get("tittel"))


def ends(document: str) -> str:
    """The end of a journal."""
    return f"</{document}>\n"


DOCUMENTS = (RUNNING_JOURNAL, PUBLIC_JOURNAL)


def _one(element: str, value: object) -> str:
    return "" if value is None or value == "" else f"<{element}>{value}</{element}>\n"


def _screened(thing: Thing) -> str:
    """What is withheld of a unit itself: its title, where it is."""
    return _one("skjermingMetadata", withheld_title(thing)) if "skjerming" in thing["f"] else ""

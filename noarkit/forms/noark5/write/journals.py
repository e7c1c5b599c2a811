"""loependeJournal.xml and offentligJournal.xml: each journal post as one entry of both, by year and number.

What the archive withholds from the public is a mask in the public journal: of a unit that is screened, or that stands
in one that is. Elements that came with the maintenance of 2023 are not written, so that either edition takes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from noarkit.forms.noark5.moments import Moments
from noarkit.forms.noark5.screened import withheld_name, withheld_title
from noarkit.forms.noark5.spec import PUBLIC_JOURNAL, RUNNING_JOURNAL
from noarkit.forms.noark5.write.content import Codes, Content, EntityData
from noarkit.forms.noark5.write.structure import namespaces
from noarkit.model.disclosure import hides_parties, of_fields
from noarkit.model.mapping import mapping

SELECTION = "journaldato"


@dataclass(frozen=True, slots=True)
class JournalHead:
    """What a journal begins with; `creators` are the arkivskapere of the fonds."""

    start: str
    end: str
    entries: int
    creators: tuple[EntityData, ...]


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
        self._kinds = codes.names_of("korrespondanseparttype")
        self._moments = moments
        self._mask, self._unknown = words["masked"], words["unknown"]
        self._missing = missing

    def case(self, folder: Content, klasse: Content | None, *, screened_above: bool) -> Case:
        """A case file; what is above it is its classes and its series."""
        fields = folder["o"]["f"]
        screened = screened_above or of_fields(fields).is_screened
        numbers = _element("saksaar", fields.get("saksaar", 0)) + _element(
            "sakssekvensnummer", fields.get("sakssekvensnummer", 0)
        )
        running = public = ""
        if klasse is not None:
            of_class = klasse["o"]["f"]
            ident, title = of_class.get("klasseIdent", self._unknown), of_class.get("tittel", self._unknown)
            parts = _screening_element(klasse["o"])
            running = f"<klasse>\n{_element('klasseID', ident)}{_element('tittel', title)}{parts}</klasse>\n"
            hidden = screened_above
            public_values = [self._mask if hidden else str(value) for value in (ident, title)]
            public = (
                f"<klasse>\n{_element('klasseID', public_values[0])}{_element('tittel', public_values[1])}</klasse>\n"
            )
        own = _screening_element(folder["o"])
        title = _element("tittel", fields.get("tittel", self._unknown)) + _element(
            "offentligTittel", fields.get("offentligTittel")
        )
        running += f"<saksmappe>\n{numbers}{title}{own}</saksmappe>\n"
        public_title = _element("offentligTittel", self._public_title(fields, screened=screened))
        public += f"<saksmappe>\n{numbers}{public_title}</saksmappe>\n"
        return Case(running, public, screened)

    def entry(self, post: Content, case: Case) -> tuple[str, str]:
        """One journal post for each of the journals."""
        fields = post["o"]["f"]
        get = fields.get
        own = "skjerming" in fields
        screened = case.screened or of_fields(fields).is_screened
        numbers = (
            f"{_element('systemID', get('uuid'))}{_element('journalaar', get('journalaar', 0))}"
            f"{_element('journalsekvensnummer', get('journalsekvensnummer', 0))}"
            f"{_element('journalpostnummer', get('journalpostnummer', 0))}"
        )
        title, told_title = get("tittel", self._unknown), get("offentligTittel")
        public_title = told_title or (self._mask if screened else get("tittel"))
        told_title = _element("offentligTittel", told_title)
        screening = _screening_element(post["o"])
        parts = post.get("p", ())
        facts = self._facts(fields, parts)
        parties: list[EntityData] = [part for part in parts if part["t"] == "Korrespondansepart"]
        if not parties:
            self._missing()
            parties = [{"t": "Korrespondansepart", "f": {}}]
        all_hidden = screened or hides_parties(fields)
        to_all = self._parties(parties, mask=None, screened=own)
        to_public = to_all
        if all_hidden or any(of_fields(part["f"]).is_screened for part in parties):
            to_public = self._parties(parties, mask=all_hidden, screened=False)
        return (
            f"<journalregistrering>\n{case.running}<journalpost>\n{numbers}{_element('tittel', title)}{told_title}"
            f"{screening}{facts}{to_all}</journalpost>\n</journalregistrering>\n",
            f"<journalregistrering>\n{case.public}<journalpost>\n{numbers}{_element('offentligTittel', public_title)}"
            f"{screening}{facts}{to_public}</journalpost>\n</journalregistrering>\n",
        )

    def head(self, document: str, head: JournalHead) -> str:
        """The root's tag and the head of a journal."""
        creators = "".join(
            f"<arkivskaper>\n{_element('arkivskaperID', creator['f'].get('arkivskaperIdent', self._unknown))}"
            f"{_element('arkivskaperNavn', creator['f'].get('arkivskaperNavn', self._unknown))}"
            f"{_element('beskrivelse', creator['f'].get('beskrivelse'))}</arkivskaper>\n"
            for creator in head.creators
        )
        return (
            f'<?xml version="1.0" encoding="UTF-8"?>\n<{document} {namespaces(document)}>\n<journalhode>\n'
            f"{_element('journalStartDato', head.start)}{_element('journalSluttDato', head.end)}"
            f"{_element('seleksjon', SELECTION)}"
            f"{_element('antallJournalposter', head.entries)}{creators}</journalhode>\n"
        )

    def _facts(self, fields: dict[str, object], parts: Iterable[EntityData]) -> str:
        day = self._moments.day
        out = _element("journaldato", day(fields.get("registreringsDato") or fields.get("opprettetDato", "")))
        document_date = fields.get("dokumentetsDato")
        if document_date:
            out += _element("dokumentetsDato", day(document_date))
        signed_off = [part for part in parts if part["t"] == "Avskrivning"]
        if signed_off:
            out += self._sign_off(signed_off)
        code = fields.get("skjerming")
        if code:
            out += _element("tilgangsrestriksjon", self._codes.names_of("skjerming").get(str(code), code))
            out += _element("skjermingshjemmel", self._codes.authorities.get(str(code)) or self._unknown)
        return out

    def _sign_off(self, sign_offs: list[EntityData]) -> str:
        """Of several, the earliest."""
        first = min(
            sign_offs, key=lambda one: (str(one["f"].get("opprettetDato")), str(one["f"].get("avskrivningsmaate")))
        )
        fields = first["f"]
        code = fields.get("avskrivningsmaate", self._unknown)
        method = self._codes.names_of("avskrivningsmaate").get(str(code), code)
        post_ids = sorted(link["u"] for link in first.get("k", []) if link["n"] == "refTilknyttetJournalpost")
        return (
            _element("avskrivningsdato", self._moments.day(fields.get("opprettetDato", "")))
            + _element("avskrivningsmaate", method)
            + _element("referanseAvskrivesAvJournalpost", post_ids[0] if post_ids else None)
        )

    def _parties(self, parties: list[EntityData], *, mask: bool | None, screened: bool) -> str:
        elements = []
        for party in parties:
            fields = party["f"]
            screening = _element("skjermingMetadata", withheld_name(party)) if screened else ""
            code = fields.get("korrespondanseparttype", self._unknown)
            kind = self._kinds.get(str(code), code)
            name = fields.get("korrespondansepartNavn", self._unknown)
            if mask or (mask is False and of_fields(fields).is_screened):
                name = self._mask
            elements.append(
                f"<korrespondansepart>\n{_element('korrespondanseparttype', kind)}"
                f"{_element('korrespondansepartNavn', name)}"
                f"{screening}</korrespondansepart>\n"
            )
        return elements[0] if len(elements) == 1 else "".join(sorted(elements))

    def _public_title(self, fields: dict[str, object], *, screened: bool) -> object:
        return fields.get("offentligTittel") or (self._mask if screened else fields.get("tittel"))


def journal_end(document: str) -> str:
    """The end of a journal."""
    return f"</{document}>\n"


DOCUMENTS = (RUNNING_JOURNAL, PUBLIC_JOURNAL)


def _element(element: str, value: object) -> str:
    return "" if value is None or value == "" else f"<{element}>{value}</{element}>\n"


def _screening_element(entity: EntityData) -> str:
    """What is withheld of a unit itself: its title, where it is."""
    return _element("skjermingMetadata", withheld_title(entity)) if "skjerming" in entity["f"] else ""

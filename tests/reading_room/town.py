"""A place with all that a card can show: a municipality with cases, letters, screening, and one very long series."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256

from noarkit.catalogue.port import Change, CustodyStep, Document, Item, PlaceIdentity
from noarkit.errors import ItemVanished
from noarkit.events import Listener
from noarkit.records import ContentStream

LETTER = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 400]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>endobj\n"
    b"4 0 obj<</Length 58>>stream\nBT /F 18 Tf 30 350 Td (Svar om gravemaskin) Tj ET          \nendstream endobj\n"
    b"5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\ntrailer<</Root 1 0 R>>\n"
)
NOTE = "Møtet ble utsatt.\nNy dato kommer.\n".encode()
HOSTILE = '"><script>alert(1)</script><img src=http://evil.example/x>\u202egnp.exe'
NUMBER = "01018000055"
"""A national identity number with right check digits, of nobody."""


class _Bytes(io.BytesIO):
    def still_the_same(self) -> bool:
        return True


def _chain(content: bytes, *, broken: bool = False) -> tuple[CustodyStep, ...]:
    good, other = sha256(content).hexdigest(), sha256(b"other").hexdigest()
    return (
        CustodyStep("read", "2024-03-01T08:00:00+00:00", "", "noarkit"),
        CustodyStep("hashed", "2024-03-01T08:00:01+00:00", good),
        CustodyStep("identified", "2024-03-01T08:00:02+00:00"),
        CustodyStep("uploaded", "2024-03-02T10:30:00+00:00", good, "anne@arkiv"),
        CustodyStep("linked", "2024-03-02T10:30:04+00:00", good, "anne@arkiv"),
        CustodyStep("verified", "2024-03-03T09:15:00+00:00", other if broken else good, "anne"),
    )


class Town:
    """The place. `cases` is how many cases the long series has."""

    def __init__(self, cases: int = 250) -> None:
        self.identity = PlaceIdentity("extract", "Lillevik kommune", "/data/lillevik", f"town-{cases}")
        self._cases = cases
        self.letter_sha256 = sha256(LETTER).hexdigest()
        self.contents = {"letter": LETTER, "note": NOTE, "hostile": HOSTILE.encode()}

    def items(self, emit: Listener) -> Iterator[Item]:
        """Everything, parents first."""
        yield Item("fonds", None, "Arkiv", "Lillevik kommune", fields={"tittel": "Lillevik kommune"})
        yield Item("series", "fonds", "Arkivdel", "Sakarkiv 1998–2011", status="Avsluttet periode")
        for number in range(1, self._cases + 1):
            yield self._case(number)
        yield Item("road", "series", "Saksmappe", "Vei til vannet", "2011/1042", "2011-03-04", "Avsluttet")
        yield from self._road()
        yield Item("secret", "series", "Saksmappe", "Barnevern Ola Nordmann", "2011/7", "2011-05-06", screened=True)
        yield Item(
            *("secret-letter", "secret", "Journalpost", "Om Ola Nordmann", "2011/7-1", "2011-05-07"),
            fields={
                "tittel": "Om Ola Nordmann",
                "offentligTittel": "Om *****",
                "skjerming": {"skjermingshjemmel": "x"},
            },
            documents=(Document("secret-doc", "Ola Nordmann", "ola-nordmann.txt", locator="note"),),
        )
        yield Item("hostile", "series", "Saksmappe", HOSTILE, "2011/8", "2011-05-08", fields={HOSTILE: HOSTILE})
        yield Item("../etc/passwd", "hostile", "Journalpost", "Ref of dots", documents=(self._hostile_document(),))
        yield Item("..", "hostile", "Journalpost", "Ref of two dots")
        yield Item("long", "hostile", "Journalpost", "Ord " * 400, "2011/8-2", fields={"beskrivelse": "a b\n" * 5_000})
        yield Item("empty", "fonds", "Arkivdel", "")
        yield Item("tables", None, "schema", "public")
        yield Item("customer", "tables", "table", "customer")
        yield Item("order", "tables", "table", "order")
        yield Item("customer/1", "customer", "row", "Kari", "1", fields={"id": 1, "name": "Kari", "active": True})
        for number in (10, 11):
            yield Item(
                *(f"order/{number}", "order", "row", f"Order {number}", str(number)),
                fields={"id": number, "customer_id": 1, "amount": "1200.50"},
                links=(("customer_id", "customer/1"),),
            )

    def _case(self, number: int) -> Item:
        year = 1998 + number * 13 // (self._cases + 1)
        return Item(
            *(f"case-{number}", "series", "Saksmappe", f"Byggesak {number}", f"{year}/{number}", f"{year}-02-03"),
            "Avsluttet",
            fields={"tittel": f"Byggesak {number}", "saksansvarlig": "Anne Berg"},
        )

    def _road(self) -> Iterator[Item]:
        digest = self.letter_sha256
        letter = Document(
            *("letter", "Svar til naboen", "svar til naboen.pdf", "Arkivformat", 1, "application/pdf", "fmt/14"),
            *(len(LETTER), digest, "letter", {"tilknyttetRegistreringSom": "Hoveddokument"}, _chain(LETTER)),
        )
        note = Document(
            *("note", "Notat", "notat.txt", "Produksjonsformat", 2, "text/plain", "x-fmt/111", len(NOTE)),
            *(sha256(NOTE).hexdigest(), "note", {}, _chain(NOTE, broken=True)),
        )
        lost = Document("lost", "Kart", "kart.tif")
        yield Item(
            *("letter-1", "road", "Journalpost", "Svar til naboen", "2011/1042-3", "2011-03-05", "Arkivert"),
            fields={
                "tittel": "Svar til naboen",
                "journalposttype": "Utgående dokument",
                "journaldato": "2011-03-05",
                "opprettetDato": "2011-03-05T10:22:00Z",
                "opprettetAv": "Anne Berg",
                "korrespondansepart": [
                    {
                        "korrespondanseparttype": "Mottaker",
                        "korrespondansepartNavn": "Kari Nordmann",
                        "postnummer": "0150",
                    },
                    {"korrespondanseparttype": "Kopimottaker", "korrespondansepartNavn": "Per Hansen"},
                ],
                "merknad": [{"merknadstekst": "gravemaskin på tomten", "merknadRegistrertAv": "Anne Berg"}],
                "kassasjon": {"kassasjonsvedtak": "Bevares", "bevaringstid": 10},
                "eksternId": [{"eksterntSystem": "ePhorte", "eksternID": "4711"}],
                "identifikator": NUMBER,
                "tom": "",
            },
            links=(("referanseMappe", "road"), ("referanseGone", "nowhere"), ("referanseTil", "letter-2")),
            documents=(letter, note, lost),
            history=(Change("2012-01-02T08:00:00+00:00", "anne", "tittel", "Svar", "Svar til naboen"),),
        )
        yield Item(
            *("letter-2", "road", "Journalpost", "Klage fra naboen", "2011/1042-4", "2011-03-09", "Arkivert"),
            fault="F206",
            fields={"tittel": "Klage fra naboen"},
        )

    def _hostile_document(self) -> Document:
        return Document("../../doc", HOSTILE, f"{HOSTILE}\r\nset-cookie: x=y", "", 1, "text/html", locator="hostile")

    @contextmanager
    def open(self, locator: str) -> Iterator[ContentStream]:
        """The bytes of one of the three files."""
        if locator not in self.contents:
            raise ItemVanished(where=locator)
        yield _Bytes(self.contents[locator])

    def close(self) -> None:
        """Nothing is open."""

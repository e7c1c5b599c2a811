"""Realistic fake data without storage: the same seed and place give the same value, in any order of calls."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TypeVar

T = TypeVar("T")

GIVEN_NAMES = [
    "Anne",
    "Ola",
    "Kari",
    "Per",
    "Ingrid",
    "Lars",
    "Solveig",
    "Jan",
    "Marit",
    "Bjørn",
    "Astrid",
    "Knut",
    "Hilde",
    "Geir",
    "Ragnhild",
    "Svein",
    "Turid",
    "Arne",
    "Liv",
    "Odd",
    "Åse",
    "Øyvind",
    "Sunniva",
    "Håkon",
    "Ylva",
    "Eirik",
    "Tuva",
    "Sindre",
    "Máret",
    "Ánte",
    "Aisha",
    "Mohammed",
    "Fatima",
    "Marek",
    "Agnieszka",
    "Thi",
]
FAMILY = [
    "Hansen",
    "Johansen",
    "Olsen",
    "Larsen",
    "Andersen",
    "Nilsen",
    "Pedersen",
    "Kristiansen",
    "Berg",
    "Haugen",
    "Hagen",
    "Dahl",
    "Lie",
    "Moen",
    "Strand",
    "Solberg",
    "Bakke",
    "Sæther",
    "Ødegård",
    "Næss",
    "Ås",
    "Bjørnstad",
    "Utsi",
    "Somby",
    "Nguyen",
    "Kowalski",
    "Ahmed",
    "Kvåle",
    "Tveit",
    "Rønning",
]
PLACES = [
    "Bergen",
    "Tromsø",
    "Ålesund",
    "Hamar",
    "Bodø",
    "Molde",
    "Førde",
    "Vadsø",
    "Lillehammer",
    "Stavanger",
    "Skien",
    "Røros",
    "Kautokeino",
]
TRADES = [
    "Bygg",
    "Eiendom",
    "Regnskap",
    "Fisk",
    "Kraft",
    "Transport",
    "Data",
    "Renhold",
    "Entreprenør",
    "Handel",
    "Helse",
    "Landbruk",
]
FORMS = ("AS", "ASA", "SA", "DA", "ANS")
MATTERS = (
    "Søknad om utsatt frist",
    "Avtale om vedlikehold",
    "Klage på faktura",
    "Tilbud på rehabilitering",
    "Fornyelse av leieavtale",
    "Spørsmål om levering",
    "Rammeavtale for konsulenter",
    "Reklamasjon på varer",
    "Forespørsel om innsyn",
    "Oppgradering av anlegg",
)
SENTENCES = (
    "Vi viser til samtalen i forrige uke.",
    "Vedlagt følger de opplysningene dere ba om.",
    "Fristen er satt til utgangen av måneden.",
    "Beløpet er avtalt og skal ikke endres.",
    "Kunden ønsker et møte før saken avgjøres.",
    "Vi ber om en bekreftelse på at dette er mottatt.",
    "Saken er forelagt ledelsen og godkjent.",
    "Det er funnet avvik som må rettes.",
)
_WEIGHTS = (3, 2, 7, 6, 5, 4, 3, 2)
BEGIN = datetime(2023, 1, 2, 7, 0, tzinfo=UTC)


class SeededRandom:
    """Random values for one place: `Dice(seed, "deal", 17)`. Each value has a name, so that new ones change no
    others."""

    __slots__ = ("_key",)

    def __init__(self, *place: object) -> None:
        self._key = "\x1f".join(map(str, place)).encode()

    def number(self, name: str, below: int) -> int:
        """Returns a whole number from 0 to below `below`."""
        digest = hashlib.blake2b(self._key + b"\x1e" + name.encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big") % below

    def choose(self, name: str, choices: Sequence[T]) -> T:
        """Returns one of several values."""
        return choices[self.number(name, len(choices))]

    def is_hit(self, name: str, percent: int) -> bool:
        """True in so many of a hundred cases."""
        return self.number(name, 100) < percent

    def uuid(self, name: str) -> str:
        """Returns a UUID."""
        return str(uuid.UUID(bytes=hashlib.blake2b(self._key + name.encode(), digest_size=16).digest(), version=4))

    def person(self, name: str) -> tuple[str, str]:
        """Returns a given and a family name."""
        return self.choose(f"{name}.given", GIVEN_NAMES), self.choose(f"{name}.family", FAMILY)

    def company(self, name: str) -> str:
        """Returns a company name."""
        place, trade = self.choose(f"{name}.place", PLACES), self.choose(f"{name}.trade", TRADES)
        return f"{place} {trade} {self.choose(f'{name}.form', FORMS)}"

    def organisation_number(self, name: str) -> str:
        """Returns nine digits with a valid check digit."""
        for attempt in range(100):
            digits = f"{9:d}{self.number(f'{name}{attempt}', 10**7):07d}"
            remainder = (
                11
                - sum(int(digit) * weight for digit, weight in zip(digits, (3, 2, 7, 6, 5, 4, 3, 2), strict=True)) % 11
            )
            if remainder < 10 or remainder == 11:
                return f"{digits}{0 if remainder == 11 else remainder}"
        return "999999999"

    def text(self, name: str, sentences: int) -> str:
        """Returns some sentences."""
        return " ".join(self.choose(f"{name}.{place}", SENTENCES) for place in range(sentences))

    def moment(self, name: str, within_days: int, after: datetime = BEGIN) -> datetime:
        """Returns a moment of a working day."""
        return after + timedelta(
            days=self.number(f"{name}.day", within_days), seconds=self.number(f"{name}.second", 9 * 3_600)
        )


def mail_of(given_name: str, family: str, company: str) -> str:
    """Builds an email address for a person and a company."""
    plain = str.maketrans({"æ": "ae", "ø": "o", "å": "a", "á": "a", " ": "-"})
    return f"{given_name}.{family}@{company.rsplit(' ', 1)[0]}.example".casefold().translate(plain)

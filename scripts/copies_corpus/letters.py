"""Made-up Norwegian letters, tables and minutes: the same number gives the same text."""

from __future__ import annotations

import random
from dataclasses import dataclass

_PLACES = ("Ås", "Tromsø", "Bærum", "Åmot", "Øygarden", "Sør-Varanger", "Færder", "Ålesund")
_NAMES = ("Åse Bjørnstad", "Øystein Kvåle", "Kari Nordmann", "Ævar Sæther", "Màret Sara", "Jørn Grøtting")
_MATTERS = (
    "Søknad om dispensasjon frå reguleringsplanen",
    "Vedtak om tilskudd til kulturmiljø",
    "Klage på avslag om skoleskyss",
    "Høring – forvaltningsplan for elvedeltaet",
    "Svar på spørsmål om eiendomsgrenser",
)
_SENTENCES = (
    "Viser til deres brev om gnr. {a} bnr. {b} i {place} kommune.",
    "Rådmannen rår til at søknaden blir innvilget på nærmere vilkår.",
    "Arealet er målt til {a},5 dekar, og avgiften er satt til {b} 400,50 kroner.",
    "Naboene har fått varsel, og ingen merknader er kommet inn innen fristen.",
    "Vedtaket kan påklages til Statsforvalteren innen tre uker.",
    "Ifølge plan- og bygningsloven § 19-2 må fordelene være klart større enn ulempene.",
    "«Særlige grunner» er vurdert i møte den {day}. mai, jf. sak {a}/{b}.",
)


@dataclass(frozen=True, slots=True)
class Letter:
    """A letter: its matter, who wrote it, its paragraphs and a table."""

    number: int
    subject: str
    writer: str
    paragraphs: tuple[str, ...]
    rows: tuple[tuple[str, str], ...]

    @property
    def text(self) -> str:
        """All of it, line by line."""
        return "\n".join((self.subject, *self.paragraphs, f"Med hilsen {self.writer}"))


def letter(number: int) -> Letter:
    """The letter of a number."""
    chance = random.Random(number)
    values = {"a": chance.randint(1, 300), "b": chance.randint(1, 900), "day": chance.randint(1, 31)}
    place = chance.choice(_PLACES)
    sentences = chance.sample(_SENTENCES, 5)
    rows = tuple((f"Gnr. {n}", f"{chance.randint(1, 900)},{chance.randint(0, 9)}") for n in range(1, 4))
    subject = f"{chance.choice(_MATTERS)} – sak {number}"
    paragraphs = tuple(sentence.format(place=place, **values) for sentence in sentences)
    return Letter(number, subject, chance.choice(_NAMES), paragraphs, rows)

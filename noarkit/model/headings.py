"""What people file a thing under: which of its dates is *the day* of it, whoever shows it.

Fields have one name in an archive and a plan (`registreringsDato`) and another in an extract (`journaldato`); both
stand here, so that a record has the same day in the run, the archive and the package made of it.
"""

from __future__ import annotations

CREATED = "opprettetDato"
"""When it was made in an archive: its day only where nothing else is known of it."""
DAY_FIELDS = (
    *("saksdato", "moetedato", "journaldato", "registreringsDato", "dokumentetsDato", "arkivperiodeStartDato"),
    CREATED,
)
"""The fields that may say the day, the first that is there first."""


def type_word(name: str) -> str:
    """A type as people ask for it: what an archive calls `Basisregistrering` is `registrering` in an extract."""
    word = name.lower()
    return "registrering" if word == "basisregistrering" else word

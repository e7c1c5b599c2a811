"""The two names of a field, and what is known of a name that a type does not have."""

from __future__ import annotations

import pytest

from noarkit.model import metamodel
from noarkit.model.field_names import archive_name, explain_unknown, field_names, standard_name, type_called


@pytest.mark.parametrize(
    ("kind", "standard", "archive"),
    [
        ("Saksmappe", "systemID", "uuid"),
        ("Arkivskaper", "arkivskaperID", "arkivskaperIdent"),
        ("Klasse", "klasseID", "klasseIdent"),
        ("Moetemappe", "mappeID", "mappeIdent"),
        ("Journalpost", "registreringsID", "registreringsIdent"),
        ("Journalpost", "journaldato", "registreringsDato"),
        ("Arkivnotat", "arkivertDato", "avsluttetDato"),
        ("Saksmappe", "avsluttetDato", "avsluttetDato"),
        ("Sakspart", "partNavn", "sakspartNavn"),
        ("Moetedeltaker", "moetedeltakerFunksjon", "funksjon"),
        ("Avskrivning", "avskrivningsdato", "opprettetDato"),
        ("Merknad", "merknadstekst", "tekst"),
        ("Noekkelord", "noekkelord", "verdi"),
        ("Dokument", "tilgangsrestriksjon", "skjerming"),
        ("Dokument", "kassasjonsdato", "forventetKassasjonsDato"),
    ],
)
def test_a_field_has_the_names_of_the_standard_and_of_the_archive(kind: str, standard: str, archive: str) -> None:
    assert (archive_name(kind, standard), standard_name(kind, archive)) == (archive, standard)
    assert archive_name(kind, archive) == archive


def test_no_name_means_two_fields_of_a_type() -> None:
    for kind in metamodel().types.values():
        names = field_names(kind.name)
        assert len(names) == len(set(names))
        for field in kind.fields:
            assert archive_name(kind.name, standard_name(kind.name, field)) == field


def test_a_type_is_known_by_its_element() -> None:
    assert [
        type_called(name) for name in ("dokumentobjekt", "registrering", "part", "sakspart", "journalpost", "x")
    ] == [*("Dokumentversjon", "Basisregistrering", "Sakspart", "Sakspart", "Journalpost", None)]


@pytest.mark.parametrize(
    ("kind", "name", "near", "owners", "other"),
    [
        ("Saksmappe", "title", "tittel", (), ""),
        ("Journalpost", "recordDate", "journaldato", (), ""),
        ("Sakspart", "sakspartID", "partID", (), ""),
        ("Saksmappe", "journaldato", "", ("Journalpost",), "journaldato"),
        ("Saksmappe", "arkivperiodeStartDato", "", ("Arkivdel",), "arkivperiodeStartDato"),
        ("Saksmappe", "recordSequenceNumber", "", ("Journalpost",), "journalsekvensnummer"),
        ("Saksmappe", "titel", "tittel", (), ""),
        ("Journalpost", "sakstatus", "", ("Saksmappe",), "saksstatus"),
        ("Saksmappe", "qqq", "", (), ""),
    ],
)
def test_an_unknown_name_is_explained(kind: str, name: str, near: str, owners: tuple[str, ...], other: str) -> None:
    known = explain_unknown(kind, name)
    assert (known.near, known.owners, known.other, known.lost) == (near, owners, other, False)


def test_an_element_that_the_archive_has_no_field_for_is_lost() -> None:
    assert explain_unknown("Saksmappe", "utlaantDato").lost
    assert explain_unknown("Saksmappe", "gradering").lost

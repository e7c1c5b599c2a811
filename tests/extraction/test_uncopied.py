"""Which versions lack an archival copy, by what the archive tells of the versions beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from noarkit.archive.values import SavedObject
from noarkit.extraction.rows import row_of
from noarkit.extraction.store import ExtractStore, Progress, Row
from noarkit.extraction.uncopied import uncopied_documents

ONE, TWO, OTHER = "1" * 64, "2" * 64, "3" * 64


def version(number: int, variant: str, checksum: str, algorithm: str = "SHA-256", *, file: str = "f") -> SavedObject:
    fields = {
        "uuid": f"{variant}{number}-{checksum[0]}",
        "versjonsnummer": number,
        "variantformat": variant,
        "format": "doc",
        "filnavn": "brev.doc",
        "filstoerrelse": 7,
        "sjekksum": checksum,
        "sjekksumAlgoritme": algorithm,
        **({"referanseDokumentfil": file} if file else {}),
    }
    return SavedObject("Dokumentversjon", "", "1", fields, {"refDokument": "1"})


def lacking(folder: Path, versions: list[SavedObject], made_of: dict[int, str], **document: object) -> list[str]:
    """The uuids of the versions that lack a copy; `made_of` names the source of a version by its place."""
    rows: dict[str, list[Row]] = {"document": [], "version": [], "part": [], "unit": []}
    fields = {"uuid": "d", "dokumentstatus": "F", **document}
    rows["document"].append(row_of(SavedObject("Dokument", "1", "1", fields, {"refRegistrering": "5"})))
    record = {
        "uuid": "r",
        "journalstatus": "A",
        **({"journalstatus": document["status"]} if "status" in document else {}),
    }
    rows["unit"].append(row_of(SavedObject("Journalpost", "5", "1", record, {})))
    for place, one in enumerate(versions):
        rows["version"].append(row_of(SavedObject(one.type, str(place + 10), "1", one.fields, one.links)))
        if place in made_of:
            label = {"eksterntSystem": "noarkit:derived-from", "eksternID": f"sha256:{made_of[place]}"}
            links = {"refDokumentversjon": str(place + 10)}
            rows["part"].append(row_of(SavedObject("EksternId", str(place + 90), "1", label, links)))
    with ExtractStore(folder / "fetched.db") as store:
        store.add(rows, "all", Progress("", is_done=True))
        return [one.uuid for found in uncopied_documents(store) for one in found.versions]


@pytest.mark.parametrize(
    ("versions", "made_of", "left"),
    [
        ([version(1, "P", ONE)], {}, ["P1-1"]),
        ([version(1, "P", ONE), version(1, "A", OTHER)], {1: ONE}, []),
        # numbered by the archive, as an account without the right must let it
        ([version(1, "P", ONE), version(2, "A", OTHER)], {1: ONE}, []),
        # a copy of the first says nothing of the second
        ([version(1, "P", ONE), version(2, "P", TWO), version(3, "A", OTHER)], {2: ONE}, ["P2-2"]),
        # a copy of bytes that are not here
        ([version(1, "P", ONE), version(1, "A", OTHER)], {1: TWO}, ["P1-1"]),
        # of another system: it belongs to the newest up to its number
        ([version(1, "P", ONE), version(2, "P", TWO), version(2, "A", OTHER)], {}, ["P1-1"]),
        ([version(1, "P", ONE), version(2, "A", OTHER), version(3, "P", TWO)], {}, ["P3-2"]),
        # the original cannot be told by its checksum
        ([version(1, "P", "a" * 32, "MD5"), version(1, "A", OTHER)], {1: ONE}, []),
        # what is archival or screened is no production format, and what has no file cannot be copied
        ([version(1, "A", ONE), version(2, "O", TWO), version(3, "P", OTHER, file="")], {}, []),
    ],
)
def test_a_version_lacks_a_copy_where_none_belongs_to_it(
    tmp_path: Path, versions: list[SavedObject], made_of: dict[int, str], left: list[str]
) -> None:
    assert lacking(tmp_path, versions, made_of) == left


def test_what_is_disposed_of_or_expired_gets_no_copy(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    assert lacking(tmp_path / "a", [version(1, "P", ONE)], {}, kassertDato="2020-01-01T00:00:00.000Z") == []
    assert lacking(tmp_path / "b", [version(1, "P", ONE)], {}, status="U") == []

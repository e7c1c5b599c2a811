"""Which documents no depot takes as they are: derive, plan, extract and validate say the same of one mixed folder."""

from __future__ import annotations

import csv
import hashlib
import json
from pathlib import Path

import pytest

import noarkit
from noarkit.copies.store import CopyStore
from noarkit.reports.copies_page import copies_facts
from scripts.copies_corpus.kinds import KINDS
from scripts.copies_corpus.letters import letter

pytestmark = pytest.mark.usefixtures("one_archive")

MIXED = {
    *("brev.docx", "brev-endringer.docx", "ark.xlsx", "framlegg.pptx", "arkivert.pdf", "skannet.pdf", "signert.pdf"),
    *("vedlegg.pdf", "låst.pdf", "notat.txt", "notat-windows.txt", "data.xml", "data.json", "pakke.zip", "side.html"),
    *("foto.png", "bilde.bmp", "skann.tif", "film.avi", "feil-navn.doc", "tom.docx", "tom.txt"),
    *("fiendtlig-avkortet.docx", "fiendtlig-avkortet.pdf", "fiendtlig-avkortet.xlsx", "fiendtlig-avkortet.png"),
    *("fiendtlig-feil-start.docx", "fiendtlig-halvskrevet.pdf", "fiendtlig-bombe-ratio.xlsx", "fiendtlig-låst.docx"),
    "fiendtlig-låst.xls",
}
"""Documents of every state and of most reasons; where LibreOffice is missing, its own have that for a reason."""
NOT_TAKEN = {"N406", "N408", "N409", "N410", "N423", "N424"}
"""Rules of validation that tell a document which no depot takes as it is."""


def write_documents(folder: Path) -> None:
    folder.mkdir(parents=True)
    for kind in KINDS:
        name = f"{kind.name}.{kind.suffix}"
        if name in MIXED:
            (folder / name).write_bytes(kind.write(letter(3)))
    (folder / "ukjent.bin").write_bytes(bytes(range(1, 200)) * 2)
    changed = bytearray((folder / "ark.xlsx").read_bytes())
    changed[changed.index(b"xl/worksheets/sheet1.xml") + 60] ^= 0x55
    (folder / "ark-skadet.xlsx").write_bytes(changed)


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_four_say_the_same_of_one_mixed_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_documents(Path("sak/2024-1"))
    derived = noarkit.derive("sak", "copies", workers=2)
    count = derived.held + derived.failed + derived.left + derived.signed
    with CopyStore.open(Path("copies")) as store:
        facts = copies_facts(store, "en", titles=True, most=None)
    lacking = {str(row["sha256"]): str(row["name"]) for row in facts["without"]}  # type: ignore[attr-defined]  # a list
    assert facts["without_count"] == count == len(facts["without"])  # type: ignore[arg-type]
    assert count > 15

    noarkit.plan("sak", "run", copies="copies")
    told = json.loads(Path("run/plan-report.json").read_text("utf-8"))["copies"]
    assert told["held"] + told["without"] == count

    noarkit.ingest("run", workers=0)
    noarkit.close("run")
    extracted = noarkit.extract("package")
    with Path("package.formats-not-taken.csv").open(encoding="utf-8-sig", newline="") as file:
        listed = [Path("package", row["file"]) for row in csv.DictReader(file, delimiter=";")]
    assert {lacking.get(sha256(path), path.name) for path in listed} == set(lacking.values())
    assert extracted.formats_not_taken == len(listed) == count

    places = [
        str(place.data["path"]) if "path" in place.data else place.file
        for outcome in noarkit.validate("package").outcomes
        if outcome.rule.code in NOT_TAKEN
        for place in outcome.places
    ]
    assert {Path("package", place) for place in places} == set(listed)

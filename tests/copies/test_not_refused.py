"""Ordinary documents are not refused for their form: what their twins in the usual form become, they become too.

All go through one `derive`, as a user runs it.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

from tests.copies.converters.tasks import needs_office
from tests.copies.corpus import ordinary
from tests.copies.corpus.images import encoded, frames
from tests.copies.corpus.office import docx, inserted, paragraph, pptx, run, xlsx
from tests.waiting import PATIENCE_S

pytestmark = needs_office
HAS_HEIC = importlib.util.find_spec("pillow_heif") is not None

Outcomes = dict[str, tuple[str, str | None, set[str], set[str]]]
# one that would be refused, and its twin that never was
TWINS: Mapping[str, str] = {
    "fotnote.docx": "brev.docx",
    "sluttnote.docx": "brev.docx",
    "fotnote.odt": "brev.docx",
    "fotnote.rtf": "brev.docx",
    "fotnote.doc": "uten-hatt.doc",
    "esperanto.doc": "uten-hatt.doc",
    "streng.docx": "brev.docx",
    "streng-fotnote.docx": "brev.docx",
    "streng.xlsx": "ark.xlsx",
    "streng.pptx": "lysbilder.pptx",
    "uten.svg": "med.svg",
    "med-merknad.svg": "med.svg",
    "ensfarget.gif": "bevegelse.gif",
    **({"telefon.heic": "bilde.bmp"} if HAS_HEIC else {}),
}
HELD = {"endret.doc": {"tracked-changes"}, "streng-endret.docx": {"tracked-changes"}}
CHANGED = docx(paragraph(run("Vedtak "), inserted("nytt")))
POSTS = " ".join(f"post{letter}" for letter in "abcdefghijklmnop")
DOCUMENTS: Mapping[str, bytes] = {
    "brev.docx": docx("Vedtaket er fattet i dag."),
    "fotnote.docx": ordinary.with_note("footnote"),
    "sluttnote.docx": ordinary.with_note("endnote"),
    "streng.docx": ordinary.in_strict_form(docx("Vedtaket er fattet i dag.")),
    "streng-fotnote.docx": ordinary.in_strict_form(ordinary.with_note("footnote")),
    "streng-endret.docx": ordinary.in_strict_form(CHANGED),
    "ark.xlsx": xlsx([["Sum", "12"]]),
    "streng.xlsx": ordinary.in_strict_form(xlsx([["Sum", "12"]])),
    "lysbilder.pptx": pptx([POSTS]),
    "streng.pptx": ordinary.in_strict_form(pptx([POSTS])),
    "uten.svg": ordinary.DRAWING.encode(),
    "med-merknad.svg": f"<!-- tegnet på kontoret -->\n{ordinary.DRAWING}".encode(),
    "med.svg": ordinary.DECLARED.encode(),
    "ensfarget.gif": ordinary.moving("black", "white"),
    "bevegelse.gif": frames("GIF"),
    "bilde.bmp": encoded("BMP"),
}


def _by_libreoffice(folder: Path) -> None:
    """Writes the documents that only an office program makes."""
    made = folder.parent / "made"
    made.mkdir()
    for name, content in {
        "fotnote": DOCUMENTS["fotnote.docx"],
        "uten-hatt": docx("Kara Cefo, aCefo"),
        "esperanto": docx("Kara Ĉefo, aĈefo"),  # in UTF-16 the last holds the bytes of a tracked change
        "endret": CHANGED,
    }.items():
        (made / f"{name}.docx").write_bytes(content)
    command = ["soffice", f"-env:UserInstallation={(made / 'profile').as_uri()}", "--headless", "--convert-to"]
    for target, names in (("doc:MS Word 97", "*.docx"), ("odt", "fotnote.docx"), ("rtf", "fotnote.docx")):
        whole = [*command, target, "--outdir", str(folder), *map(str, made.glob(names))]
        subprocess.run(whole, capture_output=True, check=True, timeout=PATIENCE_S)


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    """What became of each: its state, the reason, what it is held for, and what was found."""
    folder = tmp_path_factory.mktemp("ordinary") / "documents"
    folder.mkdir()
    for name, content in DOCUMENTS.items():
        (folder / name).write_bytes(content)
    if HAS_HEIC:
        importlib.import_module("pillow_heif").register_heif_opener()
        (folder / "telefon.heic").write_bytes(encoded("HEIF", quality=-1))
    _by_libreoffice(folder)
    copies = folder.parent / "copies"
    command = [sys.executable, "-m", "noarkit", "derive", str(folder), "-o", str(copies)]
    derived = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert derived.returncode == 3, derived.stderr[-3000:]
    with closing(sqlite3.connect(copies / "derive.db")) as db:
        rows = db.execute(
            "SELECT d.locator, c.state, c.reason, c.data, c.findings FROM document d JOIN copy c ON c.n = d.copy"
        ).fetchall()
    return {
        name: (
            *(state, reason),
            set(json.loads(data or "{}").get("findings", ())),
            {item["code"] for item in json.loads(findings)},
        )
        for name, state, reason, data, findings in rows
    }


@pytest.mark.parametrize("name", sorted(TWINS))
def test_what_becomes_of_its_twin_becomes_of_it(name: str, outcomes: Outcomes) -> None:
    assert outcomes[name][:2] == outcomes[TWINS[name]][:2]
    assert outcomes[name][0] in ("made", "kept")


@pytest.mark.parametrize("name", sorted(HELD))
def test_what_is_wrong_is_seen_in_these_forms_too(name: str, outcomes: Outcomes) -> None:
    assert outcomes[name][:3] == ("held", "held", HELD[name])


def test_pages_of_one_colour_and_slides_with_notes_are_not_told(
    outcomes: Outcomes,
) -> None:
    assert "blank-pages" not in outcomes["ensfarget.gif"][3]
    assert "extra-words" not in outcomes["lysbilder.pptx"][3]

"""Access copies of PDFs: the same pages with smaller pictures, and what is gone is told."""

from __future__ import annotations

import io
import shutil
import subprocess
from pathlib import Path

import img2pdf
import pikepdf
import pytest
from PIL import Image, ImageDraw

import noarkit
from noarkit.copies.converters.ghostscript import Ghostscript
from noarkit.copies.converters.pdf_view import PdfView
from noarkit.copies.gates.views import ReducedGate
from noarkit.copies.port import Failure, Finding, Identity, Outcome, Product, Rule, Task
from noarkit.copies.reasons import Reason
from noarkit.safe.sandbox import Limits
from tests.copies.corpus.pdf import pdf, signed

pytestmark = [
    pytest.mark.skipif(shutil.which("gs") is None, reason="no Ghostscript here: scripts/copies-tools"),
]

POLICY = """
[policy]
name = "read"
base = "no-raf-2022"

[rules.read-pdf]
purpose = "access"
match = ["application/pdf"]
action = "derive"
converters = ["pdf-view"]
target = "pdf"
resolution = 100
signed = "keep"
"""


def scan() -> bytes:
    """A page of A4 that was scanned with 300 dots an inch."""
    page = Image.effect_noise((1240, 1754), 30).convert("RGB")
    ImageDraw.Draw(page).rectangle((200, 200, 900, 700), fill=(180, 40, 40))
    file = io.BytesIO()
    page.save(file, "JPEG", quality=95)
    return bytes(img2pdf.convert(file.getvalue(), layout_fun=img2pdf.get_fixed_dpi_layout_fun((300, 300))))


def _layered(content: bytes) -> bytes:
    """The same with two layers that a reader can show and hide."""
    out = io.BytesIO()
    with pikepdf.open(io.BytesIO(content)) as document:
        groups = [document.make_indirect(pikepdf.Dictionary(Type=pikepdf.Name.OCG, Name=name)) for name in ("a", "b")]
        document.Root.OCProperties = pikepdf.Dictionary(OCGs=groups, D=pikepdf.Dictionary(Order=groups))
        document.save(out)
    return out.getvalue()


def _task(content: bytes, tmp_path: Path) -> Task:
    source = tmp_path / "document.pdf"
    source.write_bytes(content)
    rule = Rule("read", (), "derive", ("pdf-view",), "pdf", options={"resolution": 100}, purpose="access")
    identity = Identity("fmt/18", "application/pdf", "pdf", "signature")
    (tmp_path / "out").mkdir()
    return Task(source, source.name, identity, rule, "pdf", tmp_path / "out", Limits(60.0, 240.0))


def _outcome_of(task: Task) -> Outcome:
    ((_, outcome),) = PdfView(Ghostscript()).convert([task])
    return outcome


def test_pictures_are_as_sharp_as_the_rule_says_and_what_they_lost_is_told(tmp_path: Path) -> None:
    task = _task(scan(), tmp_path)
    product = _outcome_of(task)
    assert isinstance(product, Product)
    assert product.path.stat().st_size < task.source.stat().st_size / 2
    assert ReducedGate().check(task, product) == [Finding("pictures-reduced", {"pages": 1, "percent": 11})]
    if shutil.which("pdfimages"):
        told = subprocess.run(["pdfimages", "-list", str(product.path)], capture_output=True, check=True).stdout
        assert told.decode().splitlines()[2].split()[12:14] == ["100", "100"]


def test_layers_that_are_gone_are_counted(tmp_path: Path) -> None:
    task = _task(_layered(scan()), tmp_path)
    product = _outcome_of(task)
    assert isinstance(product, Product)
    answer = ReducedGate().check(task, product)
    assert not isinstance(answer, Failure)
    assert [(one.code, one.data.get("count")) for one in answer][1:] == [("layers-dropped", 2)]


def test_a_pdf_that_would_not_become_smaller_is_read_itself(tmp_path: Path) -> None:
    outcome = _outcome_of(_task(pdf(["Et kort brev."]), tmp_path))
    assert isinstance(outcome, Failure)
    assert outcome.reason is Reason.NOT_SMALLER


def test_signed_and_small_ones_need_none_and_no_depot_gets_the_small_one_for_the_large(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text(POLICY, "utf-8")
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "scan.pdf").write_bytes(scan())
    (tmp_path / "documents" / "letter.pdf").write_bytes(pdf(["Et kort brev."]))
    (tmp_path / "documents" / "signed.pdf").write_bytes(pdf(["Et signert brev."], signed))
    for is_first in (True, False):
        result = noarkit.derive(tmp_path / "documents", tmp_path / "copies", policy=tmp_path / "policy.toml", workers=1)
        assert (result.access, result.access_reasons) == ({"made": 1, "kept": 2}, {"not-smaller": 1, "signed": 1})
        assert bool(result.converted) == is_first
        assert result.made + result.kept == 3

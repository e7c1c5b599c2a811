"""A PDF is PDF/A where a validator says so; what it claims is told apart from that."""

from __future__ import annotations

import io
import zlib
from pathlib import Path

import pikepdf
import pytest
from pikepdf import pdfa
from PIL import Image

from noarkit.safe.pdfa import available, claimed_flavour, judge_pdfa


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    """A PDF of one picture that claims nothing."""
    path = tmp_path / "plain.pdf"
    Image.new("RGB", (40, 40), (20, 90, 160)).save(path, format="PDF")
    return path


@pytest.fixture
def valid(plain: Path, tmp_path: Path) -> Path:
    """The same as PDF/A-2b."""
    path = tmp_path / "valid.pdf"
    with pikepdf.open(plain) as pdf:
        pdfa.save(pdf, path, "2b")
    return path


def _changed(path: Path, target: Path, change: str, value: object = None) -> Path:
    with pikepdf.open(path) as pdf:
        if value is None:
            del pdf.Root[change]
        else:
            pdf.Root[change] = pikepdf.Dictionary(S=pikepdf.Name.JavaScript, JS="app.alert(1)")
        pdf.save(target)
    return target


def test_a_pdfa_claims_its_flavour_and_passes(valid: Path) -> None:
    assert available()
    assert claimed_flavour(valid) == "2b"
    verdict = judge_pdfa(valid)
    assert (verdict.flavour, verdict.state, verdict.rules, verdict.passed) == ("2b", "pass", (), True)


def test_a_plain_pdf_claims_nothing_and_is_not_approved(plain: Path) -> None:
    assert claimed_flavour(plain) is None
    assert judge_pdfa(plain).state == "not-checked"
    assert judge_pdfa(plain).rules == ("no-claim",)
    assert not judge_pdfa(plain).passed


def test_a_claim_is_no_proof(valid: Path, tmp_path: Path) -> None:
    """Without its output intent it claims PDF/A still, and the rule that it breaks is named; what the validator
    does not know (a script at opening) is not approved either."""
    without = _changed(valid, tmp_path / "without.pdf", "/OutputIntents")
    scripted = _changed(valid, tmp_path / "scripted.pdf", "/OpenAction", "script")
    for path, state, rule in ((without, "fail", "6.2.4.3-2"), (scripted, "not-checked", "schema-Catalog")):
        assert claimed_flavour(path) == "2b"
        verdict = judge_pdfa(path)
        assert (verdict.state, verdict.passed) == (state, False)
        assert any(rule in broken for broken in verdict.rules), verdict.rules


def test_another_flavour_can_be_demanded(valid: Path) -> None:
    assert judge_pdfa(valid, "2u").flavour == "2b"
    assert judge_pdfa(valid, "1b").state == "fail"
    assert judge_pdfa(valid, "4").state == "not-checked"


@pytest.mark.parametrize("content", [b"", b"%PDF-1.7\n", b"no pdf at all" * 40], ids=["empty", "header", "other"])
def test_what_is_no_pdf_claims_nothing(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.pdf"
    path.write_bytes(content)
    assert claimed_flavour(path) is None
    assert not judge_pdfa(path, "2b").passed


def test_a_password_hides_the_claim(valid: Path, tmp_path: Path) -> None:
    path = tmp_path / "locked.pdf"
    with pikepdf.open(valid) as pdf:
        pdf.save(path, encryption=pikepdf.Encryption(user="u", owner="o"))
    assert claimed_flavour(path) is None
    assert not judge_pdfa(path, "2b").passed


def test_metadata_that_unpacks_without_end_is_read_no_further_than_metadata_grows(plain: Path, tmp_path: Path) -> None:
    """Six megabytes of blanks stand before the claim: it is not looked for behind them."""
    packer, packed = zlib.compressobj(9), io.BytesIO()
    for _ in range(6):
        packed.write(packer.compress(b" " * 1_000_000))
    packed.write(packer.compress(b'<x pdfaid:part="2" pdfaid:conformance="B"/>') + packer.flush())
    path = tmp_path / "bomb.pdf"
    with pikepdf.open(plain) as pdf:
        stream = pikepdf.Stream(pdf, b"")
        stream.write(packed.getvalue(), filter=pikepdf.Name.FlateDecode)
        pdf.Root.Metadata = stream
        pdf.save(path, recompress_flate=False, compress_streams=False)
    assert path.stat().st_size < 20_000
    assert claimed_flavour(path) is None


def test_a_file_that_is_not_there_is_no_fault_of_the_pdf(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        judge_pdfa(tmp_path / "missing.pdf", "2b")


def _shaded(valid: Path, target: Path, **entries: object) -> Path:
    """A PDF/A whose page is painted with a colour that runs into another."""
    with pikepdf.open(valid) as pdf:
        steps = pikepdf.Dictionary(FunctionType=2, Domain=[0, 1], C0=[0.8, 0.9, 1], C1=[1, 1, 1], N=1)
        shading = pikepdf.Dictionary(
            ShadingType=2, ColorSpace=pikepdf.Name.DeviceRGB, Coords=[0, 0, 40, 40], Function=steps
        )
        for key, value in entries.items():
            shading[f"/{key}"] = value
        page = pdf.pages[0].obj
        page.Resources.Shading = pikepdf.Dictionary(S1=pdf.make_indirect(shading))
        page.Contents = pdf.make_stream(page.Contents.read_bytes() + b"\n/S1 sh\n")
        pdf.save(target, **pdfa.resolve_save_kwargs("2b"))
    return target


@pytest.mark.parametrize(
    ("entries", "state"),
    [
        ({}, "pass"),
        ({"ShadingType": 3, "Coords": [9, 9, 0, 9, 9, 9]}, "pass"),
        ({"ColorSpace": pikepdf.Name.DeviceCMYK}, "not-checked"),
        ({"ShadingType": 1}, "not-checked"),
        ({"Unknown": 1}, "not-checked"),
    ],
)
def test_colours_that_run_into_one_another_are_judged_by_their_space_and_kind(
    entries: dict[str, object], state: str, valid: Path, tmp_path: Path
) -> None:
    assert judge_pdfa(_shaded(valid, tmp_path / "shaded.pdf", **entries), "2b").state == state

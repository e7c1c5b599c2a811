"""A PDF becomes PDF/A with its pages untouched or not at all; a web page is drawn, and nothing is fetched for it."""

from __future__ import annotations

import base64
import io
import socket
from collections.abc import Iterator
from pathlib import Path

import pikepdf
import pytest
from PIL import Image

from noarkit.copies.converters.page import PAGE
from noarkit.copies.converters.pdf import PDF_DECLARE
from noarkit.copies.port import Failure, Finding
from noarkit.copies.reasons import Reason
from tests.copies.converters.library_tasks import Workbench, facts_by_poppler, text_by_poppler
from tests.copies.gates.drawing import draw_pdf, picture_with_cross


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """A socket that whoever fetches anything would reach."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.3)
        yield server


def _assert_silent(server: socket.socket) -> None:
    with pytest.raises(TimeoutError):
        server.accept()


def _scan(path: Path) -> Path:
    """A PDF of two pictures, as a scanner and LibreOffice together would leave it."""
    pictures = [picture_with_cross(shade) for shade in (20, 200)]
    pictures[0].save(path, format="PDF", save_all=True, append_images=pictures[1:])
    with pikepdf.open(path, allow_overwriting_input=True) as pdf:
        pdf.Root["/OpenAction"] = pikepdf.Array([pdf.pages[0].obj, pikepdf.Name.Fit])
        pdf.trailer["/DocChecksum"] = pikepdf.Name("/ABCDEF")
        pdf.save()
    return path


def _streams(path: Path) -> list[bytes]:
    with pikepdf.open(path) as pdf:
        return [
            bytes(page.Contents.read_bytes())
            + b"".join(bytes(image.read_raw_bytes()) for image in page.get_images().values())
            for page in pdf.pages
        ]


def test_a_pdf_is_declared_and_its_pages_stay_byte_for_byte(tmp_path: Path, bench: Workbench) -> None:
    source = _scan(tmp_path / "scan.pdf")
    product, findings = bench.copy(PDF_DECLARE, bench.task(source, "pdfa-2b"))
    assert _streams(source) == _streams(product.path)
    assert findings == ()
    facts = facts_by_poppler(product.path)
    assert facts is None or facts["Pages"] == "2"


def test_rules_that_stand_against_it_are_named(tmp_path: Path, bench: Workbench) -> None:
    outcome = bench.make(PDF_DECLARE, bench.task(draw_pdf(tmp_path / "font.pdf", ["Søknad"]), "pdfa-2b"))
    assert isinstance(outcome, Failure) and outcome.reason is Reason.CONTENT_REFUSED
    rules = outcome.data["rules"]
    assert isinstance(rules, list) and any("6.2.11.4" in rule for rule in rules)  # fonts are embedded


def test_what_must_not_be_rewritten_is_not(tmp_path: Path, bench: Workbench) -> None:
    signed, holding, locked, broken, scripted = (
        _scan(tmp_path / f"{name}.pdf") for name in ("signed", "holding", "locked", "broken", "scripted")
    )
    with pikepdf.open(signed, allow_overwriting_input=True) as pdf:
        value = pdf.make_indirect(
            pikepdf.Dictionary(Type=pikepdf.Name.Sig, ByteRange=pikepdf.Array([0, 1, 2, 3]), Contents=b"x")
        )
        pdf.Root["/AcroForm"] = pikepdf.Dictionary(
            SigFlags=3, Fields=pikepdf.Array([pdf.make_indirect(pikepdf.Dictionary(FT=pikepdf.Name.Sig, V=value))])
        )
        pdf.save()
    with pikepdf.open(holding, allow_overwriting_input=True) as pdf:
        pdf.attachments["a.docx"] = b"PK"
        pdf.save()
    with pikepdf.open(locked, allow_overwriting_input=True) as pdf:
        pdf.save(encryption=pikepdf.Encryption(user="x", owner="y"))
    with pikepdf.open(scripted, allow_overwriting_input=True) as pdf:
        pdf.Root["/OpenAction"] = pikepdf.Dictionary(S=pikepdf.Name.JavaScript, JS="app.alert(1)")
        pdf.save()
    broken.write_bytes(broken.read_bytes()[:-400])
    assert {
        path.stem: bench.refusal(PDF_DECLARE, bench.task(path, "pdfa-2b"))
        for path in (signed, holding, locked, broken, scripted)
    } == {
        "signed": Reason.SIGNED,
        "holding": Reason.ATTACHMENTS,
        "locked": Reason.PASSWORD,
        "broken": Reason.DAMAGED,
        "scripted": Reason.CONTENT_REFUSED,
    }


def _png() -> bytes:
    file = io.BytesIO()
    picture_with_cross().save(file, "PNG")
    return file.getvalue()


def _page(folder: Path, listener: socket.socket) -> Path:
    """A page that holds one picture, and asks for a dozen things in every way there is."""
    port = listener.getsockname()[1]
    (folder / "secret.png").write_bytes(_png())
    here = f"http://127.0.0.1:{port}"
    page = folder / "page.html"
    page.write_text(
        f"""<!DOCTYPE html><html><head><meta charset="utf-8"><title>Tittel</title>
        <base href="{here}/base/"><link rel="stylesheet" href="{here}/a.css"><style>@import url({here}/b.css);
        @font-face {{ font-family: X; src: url({here}/f.woff) }} body {{ background: url({here}/bg.png) }}</style>
        <script src="{here}/s.js"></script></head><body style="font-family: X">
        <h1>Søknad om byggetillatelse på Ås</h1><p>Blåbærsyltetøy <a href="https://eksempel.no/side">lenke</a></p>
        <img src="data:image/png;base64,{base64.b64encode(_png()).decode()}"><img src="{here}/pixel.gif">
        <img src="file://{folder}/secret.png"><img src="beside.png"><iframe src="{here}/frame"></iframe>
        <object data="{here}/o.svg"></object><embed src="{here}/e.svg"></body></html>""",
        encoding="utf-8",
    )
    return page


def _pictures(path: Path) -> int:
    with pikepdf.open(path) as pdf:
        return sum(isinstance(item, pikepdf.Stream) and item.get("/Subtype") == "/Image" for item in pdf.objects)


def test_a_page_is_drawn_of_what_it_holds_itself(
    tmp_path: Path, bench: Workbench, listener: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    # the library's own refusal alone, without the wall around its process
    monkeypatch.setattr("noarkit.copies.converters.library._leave_network", lambda: None)
    source = _page(tmp_path, listener)
    product, findings = bench.copy(PAGE, bench.task(source, "pdfa-2b"))
    _assert_silent(listener)
    (refused,) = product.findings
    assert refused.code == "remote-refused"
    assert isinstance(refused.data["count"], int) and refused.data["count"] >= 7
    assert set(refused.data["hosts"]) == {"127.0.0.1", "file"}  # type: ignore[call-overload]
    assert _pictures(product.path) == 1
    assert [found.code for found in findings] == ["counted", "not-counted"]  # its words, and not its pictures
    text = text_by_poppler(product.path)
    assert text is None or all(word in text for word in ("Søknad om byggetillatelse på Ås", "Blåbærsyltetøy", "lenke"))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_without_the_refusal_the_listener_would_have_heard(tmp_path: Path, listener: socket.socket) -> None:
    import weasyprint

    html = f'<img src="http://127.0.0.1:{listener.getsockname()[1]}/x.png">'
    fetcher = weasyprint.urls.URLFetcher(timeout=0.2)
    weasyprint.HTML(string=html, url_fetcher=fetcher).write_pdf()
    listener.accept()[0].close()


def test_a_relative_link_stays_relative(tmp_path: Path, bench: Workbench) -> None:
    source = tmp_path / "links.html"
    source.write_text('<!DOCTYPE html><meta charset="utf-8"><p><a href="neste/side.html">neste</a><img src="a.png">')
    product, _ = bench.copy(PAGE, bench.task(source, "pdfa-2b"))
    assert product.findings == (Finding("remote-refused", {"count": 1, "hosts": ["relative"]}),)
    with pikepdf.open(product.path) as pdf:
        assert [str(note.A.URI) for note in pdf.pages[0].Annots] == ["neste/side.html"]


def test_pages_in_old_encodings_keep_their_letters(tmp_path: Path, bench: Workbench) -> None:
    text = "Ærlig økt på blå sjø"
    for encoding in ("iso-8859-1", "windows-1252", "utf-8", "utf-16"):
        source = tmp_path / f"{encoding}.html"
        head = "" if encoding == "utf-16" else f'<meta charset="{encoding}">'
        source.write_bytes(
            f"<!DOCTYPE html><html><head>{head}<title>t</title></head><body><p>{text}</p></body></html>".encode(
                encoding
            )
        )
        product, findings = bench.copy(PAGE, bench.task(source, "pdfa-2b"))
        assert {found.code for found in findings} == {"counted", "not-counted"}  # pictures of a page are not
        shown = text_by_poppler(product.path)
        assert shown is None or text in shown


def test_a_drawing_is_drawn_and_embeds_no_file_of_ours(
    tmp_path: Path, bench: Workbench, listener: socket.socket
) -> None:
    (tmp_path / "secret.png").write_bytes(_png())
    inner = base64.b64encode(_png()).decode()
    source = tmp_path / "map.svg"
    source.write_text(
        f"""<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"
        width="300" height="200"><title>skjult</title><rect width="80" height="40" fill="red"/>
        <text x="10" y="100">Tomtekart for Ås</text>
        <image width="50" height="50" y="110" xlink:href="data:image/png;base64,{inner}"/>
        <image width="50" height="50" xlink:href="file://{tmp_path}/secret.png"/>
        <image width="5" height="5" xlink:href="http://127.0.0.1:{listener.getsockname()[1]}/i.png"/></svg>""",
        encoding="utf-8",
    )
    product, _ = bench.copy(PAGE, bench.task(source, "pdfa-2b"))
    _assert_silent(listener)
    assert _pictures(product.path) == 1
    assert [found.code for found in product.findings] == ["remote-refused"]
    text = text_by_poppler(product.path)
    assert text is None or ("Tomtekart for Ås" in text and "skjult" not in text)


def test_an_empty_page_is_no_copy(tmp_path: Path, bench: Workbench) -> None:
    from noarkit.copies.gates.pages import PagesGate

    source = tmp_path / "empty.html"
    source.write_text('<!DOCTYPE html><html><body><img src="https://eksempel.no/only.png"></body></html>')
    task = bench.task(source, "pdfa-2b")
    product = bench.make(PAGE, task)
    assert not isinstance(product, Failure)
    verdict = PagesGate().check(task, product)
    assert isinstance(verdict, Failure) and verdict.reason is Reason.BLANK


def test_a_picture_of_a_page_is_smooth_nowhere(tmp_path: Path, bench: Workbench) -> None:
    """PDF/A forbids /Interpolate, which the library sets of itself."""
    source = tmp_path / "picture.html"
    data = base64.b64encode(_png()).decode()
    source.write_text(f'<!DOCTYPE html><body style="image-rendering: auto"><img src="data:image/png;base64,{data}">')
    product, _ = bench.copy(PAGE, bench.task(source, "pdfa-2b"))
    with pikepdf.open(product.path) as pdf:
        images = [item for item in pdf.objects if isinstance(item, pikepdf.Stream) and "/Width" in item]
        assert images and not any(image.get("/Interpolate", False) for image in images)
    with Image.open(io.BytesIO(_png())) as picture:
        assert [int(image.Width) for image in images] == [picture.width]

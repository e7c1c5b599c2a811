"""Documents that look outside: nobody is asked over the network, and no other file comes into a copy."""

from __future__ import annotations

import socket
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from noarkit.copies.converters.office import Office
from noarkit.copies.port import Outcome, Product
from noarkit.safe.sandbox import Sandbox
from tests.copies.converters.documents import DRAWING, docx, odf, relations, rtf, xlsx
from tests.copies.converters.tasks import make_task, needs_bubblewrap, needs_office, outcomes_of

pytestmark = [*needs_office, *needs_bubblewrap]
pikepdf = pytest.importorskip("pikepdf", reason="the extra [copies] is not installed")
image = pytest.importorskip("PIL.Image", reason="the extra [copies] is not installed")

SIZE = (37, 23)
"""Of the picture that must not be embedded: no other has it."""

_KIND = "http://schemas.openxmlformats.org/drawingml/2006/picture"
_PICTURE = (
    '<w:p><w:r><w:drawing><wp:inline xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing">'
    '<wp:extent cx="900000" cy="600000"/><wp:docPr id="1" name="x"/><a:graphic xmlns:a="{drawing}"><a:graphicData '
    'uri="{kind}"><pic:pic xmlns:pic="{kind}"><pic:nvPicPr><pic:cNvPr id="1" name="x"/>'
    '<pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip r:link="{link}"/><a:stretch><a:fillRect/></a:stretch>'
    '</pic:blipFill><pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="900000" cy="600000"/></a:xfrm>'
    '<a:prstGeom prst="rect"/></pic:spPr></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>'
)


class Listener:
    """A server on this machine that counts who comes."""

    def __init__(self) -> None:
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.visits: list[bytes] = []
        threading.Thread(target=self._serve, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def _serve(self) -> None:
        while True:
            try:
                visitor, _ = self.socket.accept()
            except OSError:
                return
            with visitor:
                visitor.settimeout(1)
                self.visits.append(visitor.recv(200))


@pytest.fixture(scope="module")
def listener() -> Iterator[Listener]:
    server = Listener()
    yield server
    server.socket.close()


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A place that others can read too, with a picture and a text in it."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        place.chmod(0o755)
        image.new("RGB", SIZE, (200, 30, 40)).save(place / "secret.png")
        (place / "secret.txt").write_text("hemmelighet")
        yield place


def write_hostile(folder: Path, url: str) -> dict[str, str]:
    """The documents by name, with what they are."""
    local = (folder / "secret.png").as_uri()
    outside = (("image", f"{url}/a.png"), ("image", local), ("hyperlink", f"{url}/h"))
    links = relations(*outside, ("settings", "settings.xml"), external=tuple(target for _, target in outside))
    pictures = "".join(_PICTURE.format(drawing=DRAWING, kind=_KIND, link=f"rId{number}") for number in (1, 2))
    template = relations(("attachedTemplate", f"{url}/t.dotm"), external=(f"{url}/t.dotm",))
    code = f"INCLUDEPICTURE &quot;{url}/f.png&quot; \\d"
    fields = f'<w:p><w:fldSimple w:instr="{code}"><w:r><w:t>felt</w:t></w:r></w:fldSimple></w:p>'
    more: dict[str, str | bytes] = {
        "word/settings.xml": '<w:settings xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"/>',
        "word/_rels/settings.xml.rels": template,
    }
    docx(folder / "links.docx", pictures + fields, more=more, links=links)
    frame = '<text:p><draw:frame svg:width="3cm" svg:height="2cm"><draw:image xlink:href="{}"/></draw:frame></text:p>'
    section = (
        '<text:section text:name="s"><text:section-source xlink:href="{}"/><text:p>avsnitt</text:p></text:section>'
    )
    text = (folder / "secret.txt").as_uri()
    body = frame.format(f"{url}/o.png") + frame.format(local) + section.format(text) + section.format(f"{url}/s.odt")
    odf(folder / "links.odt", "text", body)
    rtf(folder / "links.rtf", "x")
    field = b'{\\field{\\*\\fldinst INCLUDEPICTURE "%s/r.png"}{\\fldrslt r}}' % url.encode()
    (folder / "links.rtf").write_bytes((folder / "links.rtf").read_bytes() + field + b"}")
    cell = f'<row r="1"><c r="A1"><f>WEBSERVICE("{url}/w")</f></c><c r="B1"><v>7</v></c></row>'
    xlsx(folder / "links.xlsx", cell)
    return {"links.docx": "fmt/412", "links.odt": "fmt/290", "links.rtf": "fmt/50", "links.xlsx": "fmt/214"}


def sizes_in(path: Path) -> set[tuple[int, int]]:
    """The sizes of the pictures in a PDF."""
    with pikepdf.open(path) as pdf:
        streams = [item for item in pdf.objects if isinstance(item, pikepdf.Stream)]
        return {(int(one.Width), int(one.Height)) for one in streams if one.get("/Subtype") == "/Image"}


def assert_harmless(outcomes: dict[str, Outcome], listener: Listener) -> None:
    from pypdfium2 import PdfDocument

    assert listener.visits == []
    for name, outcome in outcomes.items():
        assert isinstance(outcome, Product), (name, outcome)
        assert SIZE not in sizes_in(outcome.path), name
        document = PdfDocument(outcome.path)
        assert "hemmelighet" not in "".join(page.get_textpage().get_text_bounded() for page in document), name
        document.close()


def test_within_walls_nothing_is_fetched_and_nothing_foreign_embedded(folder: Path, listener: Listener) -> None:
    (folder / "walls").mkdir()
    documents = write_hostile(folder, listener.url)
    tasks = [make_task((folder / name).rename(folder / "walls" / name), puid) for name, puid in documents.items()]
    assert_harmless(outcomes_of(Office(), tasks), listener)


def test_the_profile_alone_keeps_a_letter_from_fetching_and_embedding(folder: Path, listener: Listener) -> None:
    (folder / "profile").mkdir()
    write_hostile(folder, listener.url)
    task = make_task((folder / "links.docx").rename(folder / "profile" / "links.docx"), "fmt/412")
    assert_harmless(outcomes_of(Office(Sandbox("")), [task]), listener)

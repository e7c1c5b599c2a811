"""A folder of documents, and a folder of copies of some of them, made as `derive` leaves it."""

from __future__ import annotations

import hashlib
import io
import struct
import zlib
from dataclasses import dataclass, field
from pathlib import Path

import img2pdf
import pikepdf
import pikepdf.pdfa

import noarkit
from noarkit.copies.objects import place_object
from noarkit.copies.port import Finding, State
from noarkit.copies.reasons import Reason
from noarkit.copies.store import WORK, CopyKey, CopyOutcome, CopyStore

MADE_AT = "2026-01-22T09:12:03Z"
PDFA = "fmt/477"


def picture(shade: int) -> bytes:
    """A PNG of one shade."""

    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    rows = b"".join(b"\0" + bytes([shade]) * 8 for _ in range(8))
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 8, 8, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def pdfa_of(image: bytes) -> bytes:
    """A picture as PDF/A-2b, which pikepdf itself validates when it writes it."""
    out = io.BytesIO()
    with pikepdf.open(io.BytesIO(img2pdf.convert(image))) as pdf:
        pikepdf.pdfa.save(pdf, out, "2b")
    return out.getvalue()


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@dataclass
class Copies:
    """A folder of copies; `of` says what became of a document."""

    folder: Path
    made: dict[str, bytes] = field(default_factory=dict)
    results: dict[str, noarkit.ExtractResult] = field(default_factory=dict)

    def of(
        self,
        source: bytes,
        state: State,
        result: bytes | None = None,
        *,
        puid: str = "fmt/40",
        target: str = "pdfa-2b",
        result_puid: str = PDFA,
        findings: tuple[Finding, ...] = (),
    ) -> None:
        with CopyStore.open(self.folder, create=not (self.folder / "derive.db").exists()) as store:
            walk = store.begin_walk("files:/test", "no-raf-2022")
            key = CopyKey(sha256(source), puid, "rule-digest", target, "office", "7.4", "options")
            n = store.plan(key, "office-text", len(source), walk)
            if result is not None:
                (self.folder / WORK).mkdir(exist_ok=True)
                product = self.folder / WORK / "product"
                product.write_bytes(result)
                place_object(store.folder, product, sha256(result))
                self.made[sha256(source)] = result
            reason = Reason.HELD if state == "held" else Reason.CRASHED if state == "failed" else None
            outcome = CopyOutcome(
                state,
                reason,
                findings=findings,
                sha256=sha256(result) if result is not None else None,
                size_bytes=len(result) if result is not None else None,
                result_puid=result_puid if result is not None else None,
                tool="LibreOffice",
                tool_version="7.4.7.2",
            )
            store.settle(n, outcome, MADE_AT)


LETTER, MINUTES, SHEET, NOTE = (
    b"\xd0\xcf\x11\xe0letter",
    b"\xd0\xcf\x11\xe0minutes",
    b"\xd0\xcf\x11\xe0sheet",
    b"note\n",
)
BORN = picture(7)


def lay(place: Path) -> tuple[Path, Copies]:
    """Five documents: two have a copy, one is archival as it is, one copy is held, and one has none."""
    folder, copies = place / "saker", Copies(place / "copies")
    (folder / "sak").mkdir(parents=True)
    contents = {"brev.doc": LETTER, "referat.doc": MINUTES, "plan.png": BORN, "ark.xls": SHEET, "notat.rtf": NOTE}
    for name, content in contents.items():
        (folder / "sak" / name).write_bytes(content)
    copies.of(LETTER, "made", pdfa_of(picture(1)), findings=(Finding("fields", {"count": 2, "names": ["Kari"]}),))
    copies.of(MINUTES, "made", pdfa_of(picture(2)))
    copies.of(BORN, "kept", puid="fmt/11", target="")
    copies.of(SHEET, "held", pdfa_of(picture(3)), puid="fmt/61")
    copies.of(NOTE, "failed", puid="fmt/45")
    return folder, copies

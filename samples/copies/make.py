"""Writes a folder of masters as a digitisation leaves them: pictures, a large scan, a ledger, and a recording."""

from __future__ import annotations

import math
import struct
import sys
import wave
import zipfile
from pathlib import Path

from PIL import Image, ImageDraw

_LEDGER = (("Navn", "Konto", "Beløp", "Dato"), ("Kari Nordmann", "0042", "1250.5", "2024-01-31"))
_LEDGER += (("Per Sætre", "0007", "99", "2024-02-29"), ("Pål Åsen", "1234", "-3", "2024-03-01"))
_HZ = 22_050


def main(folder: Path) -> None:
    """Writes the folder."""
    case = folder / "2024-1 Reguleringsplan"
    case.mkdir(parents=True)
    picture = _map(3600, 2400)
    picture.save(case / "kart.tif", compression="tiff_lzw", dpi=(600, 600))
    picture.save(case / "sak.tif", compression="tiff_lzw", save_all=True, append_images=[picture.rotate(180)])
    _map(2480, 3508).save(case / "skann.pdf", resolution=300, quality=98)
    _write_ledger(case / "regnskap.xlsx")
    _write_sound(case / "møte.wav")


def _map(width: int, height: int) -> Image.Image:
    ramp = Image.linear_gradient("L").resize((width, height))
    picture = Image.merge("RGB", (ramp, ramp.rotate(180), Image.effect_noise((width, height), 20)))
    pen = ImageDraw.Draw(picture)
    pen.polygon([(width // 9, height // 8), (width // 2, height // 5), (width // 3, height // 2)], fill=(40, 120, 60))
    pen.line([(0, height), (width, 0)], fill=(180, 30, 30), width=width // 80)
    return picture


def _write_ledger(path: Path) -> None:
    """A workbook with one sheet, as small as one can be."""
    rows = "".join(
        f"<row>{''.join(f'<c t={chr(34)}inlineStr{chr(34)}><is><t>{text}</t></is></c>' for text in row)}</row>"
        for row in _LEDGER
    )
    main_ns = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{kind}.worksheet+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
        f'Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main_ns}" xmlns:r="{office}"><sheets>'
        '<sheet name="Regnskap" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
        f'Type="{office}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main_ns}"><sheetData>{rows}</sheetData></worksheet>',
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        for name, text in parts.items():
            book.writestr(name, f'<?xml version="1.0" encoding="UTF-8"?>\n{text}')


def _write_sound(path: Path) -> None:
    """Three seconds of a tone that swells."""
    samples = (int(9_000 * (1 + math.sin(at / 9_000)) * math.sin(at / 8)) for at in range(3 * _HZ))
    with wave.open(str(path), "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(_HZ)
        sound.writeframes(b"".join(struct.pack("<h", sample) for sample in samples))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

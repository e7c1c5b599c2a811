"""Pictures and sound of every kind that is seen in archives, small, and headers that promise too much."""

from __future__ import annotations

import io
import struct
import zlib

from PIL import Image


def drawn(mode: str = "RGB", *, shade: int = 90, size: int = 60) -> Image.Image:
    """A picture with a cross, so that no two shades of it are alike when it is turned."""
    picture = Image.new("RGB", (size, size), (250, 250, 250))
    for place in range(size):
        picture.putpixel((place, place), (shade, 20, 160))
        picture.putpixel((size - 1 - place, place // 2), (20, shade, 40))
    return picture.convert(mode)


def encoded(kind: str, mode: str = "RGB", *, shade: int = 90, size: int = 60, **options: object) -> bytes:
    """A picture in a format that Pillow writes."""
    result = io.BytesIO()
    drawn(mode, shade=shade, size=size).save(result, format=kind, **options)
    return result.getvalue()


def frames(kind: str, count: int = 3) -> bytes:
    """A picture with several frames or pages."""
    result = io.BytesIO()
    first, *others = (drawn("P" if kind == "GIF" else "RGB", shade=40 * number) for number in range(1, count + 1))
    first.save(result, format=kind, save_all=True, append_images=others)
    return result.getvalue()


def png_header(width: int, height: int) -> bytes:
    """A PNG that says it is so large, with next to nothing in it."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(100))) + chunk(b"IEND", b"")


def wav(bits: int = 16, *, seconds: float = 0.1, pitch: int = 440) -> bytes:
    """Sound without compression."""
    width = bits // 8
    count = int(8000 * seconds)
    samples = b"".join(_sample(n, pitch, width).to_bytes(width, "little", signed=True) for n in range(count))
    head = struct.pack("<HHIIHH", 1, 1, 8000, 8000 * width, width, bits)
    body = b"WAVEfmt " + struct.pack("<I", len(head)) + head + b"data" + struct.pack("<I", len(samples)) + samples
    return b"RIFF" + struct.pack("<I", len(body)) + body


def aiff(*, seconds: float = 0.1, pitch: int = 440) -> bytes:
    """Sound as Apple's programs write it."""
    count = int(8000 * seconds)
    samples = b"".join(_sample(n, pitch, 2).to_bytes(2, "big", signed=True) for n in range(count))
    rate = bytes.fromhex("400bfa00000000000000")  # 8000 in eighty bits
    head = struct.pack(">hIh", 1, count, 16) + rate
    body = b"AIFFCOMM" + struct.pack(">I", len(head)) + head
    body += b"SSND" + struct.pack(">III", len(samples) + 8, 0, 0) + samples
    return b"FORM" + struct.pack(">I", len(body)) + body


def _sample(number: int, pitch: int, width: int) -> int:
    most = 1 << (8 * width - 2)
    period = max(2, 8000 // pitch)
    return most * (2 * (number % period) - period) // period

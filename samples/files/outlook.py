"""Writes messages as Outlook saves them (.msg): properties in an OLE2 file, as much of both forms as a letter needs."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

Storage = Mapping[str, "bytes | Storage"]

_SECTOR = 512
_MINI = 64
_CUTOFF = 4096
_END, _FREE, _FAT, _NONE = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD, 0xFFFFFFFF
_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)


def message(
    subject: str,
    sender: tuple[str, str],
    receivers: Sequence[tuple[str, str, int]],
    sent: datetime,
    text: str,
    attachments: Sequence[tuple[str, str, bytes]] = (),
) -> bytes:
    """A message; each receiver has a name, an address and 1 (to), 2 (copy) or 3 (blind copy)."""
    ticks = int((sent - _EPOCH).total_seconds()) * 10_000_000
    texts = {0x001A: "IPM.Note", 0x0037: subject, 0x1000: text, 0x0C1A: sender[0], 0x0C1F: sender[1], 0x0C1E: "SMTP"}
    texts[0x1035] = f"<{ticks}@{sender[1].rpartition('@')[2]}>"
    fixed = {0x0039: (0x40, ticks), 0x0E06: (0x40, ticks + 50_000_000), 0x0E07: (3, 1), 0x340D: (3, 0x40000)}
    found: dict[str, bytes | Storage] = {"__nameid_version1.0": _names()}
    for number, (name, address, kind) in enumerate(receivers):
        told = {0x3001: name, 0x3003: address, 0x3002: "SMTP", 0x39FE: address}
        found[f"__recip_version1.0_#{number:08X}"] = _storage(8, told, {0x0C15: (3, kind), 0x3000: (3, number)})
    for number, (name, media_type, content) in enumerate(attachments):
        told = {0x3707: name, 0x3704: name, 0x370E: media_type}
        fixed_here = {0x3705: (3, 1), 0x0E21: (3, number)}
        found[f"__attach_version1.0_#{number:08X}"] = _storage(8, told, fixed_here, {0x3701: content})
    counts = struct.pack("<8xIIII8x", len(receivers), len(attachments), len(receivers), len(attachments))
    return ole2({**found, **_storage(counts, texts, fixed)})


def _names() -> Storage:
    return {f"__substg1.0_000{number}0102": b"" for number in (2, 3, 4)}


def _storage(
    head: int | bytes,
    texts: Mapping[int, str],
    fixed: Mapping[int, tuple[int, int]],
    contents: Mapping[int, bytes] | None = None,
) -> Storage:
    """The properties of a message, receiver or attachment: the list of them, and a stream for each long one."""
    rows, streams = [], {}
    for number, (kind, value) in fixed.items():
        rows.append(struct.pack("<HHIQ", kind, number, 6, value))
    for number, text in texts.items():
        streams[f"__substg1.0_{number:04X}001F"] = text.encode("utf-16-le")
        rows.append(struct.pack("<HHIII", 0x1F, number, 6, 2 * len(text) + 2, 0))
    for number, content in (contents or {}).items():
        streams[f"__substg1.0_{number:04X}0102"] = content
        rows.append(struct.pack("<HHIII", 0x102, number, 6, len(content), 0))
    start = bytes(head) if isinstance(head, int) else head
    return {"__properties_version1.0": start + b"".join(rows), **streams}


def ole2(root: Storage) -> bytes:
    """An OLE2 file of 512-byte sectors with what `root` holds."""
    entries: list[list[object]] = [["Root Entry", 5, b"", _NONE, _NONE, _NONE]]
    _enter(entries, 0, root)
    mini = b""
    mini_fat: list[int] = []
    large = []
    starts: list[tuple[int, int]] = []
    for _, kind, content, *_ in entries:
        data = content if isinstance(content, bytes) else b""
        if kind != 2 or not data:
            starts.append((_END, 0))
        elif len(data) < _CUTOFF:
            starts.append((len(mini_fat), len(data)))
            mini_fat += _chain(len(mini_fat), -(-len(data) // _MINI))
            mini += data + bytes(-len(data) % _MINI)
        else:
            starts.append((-1 - len(large), len(data)))
            large.append(data)
    blocks = [mini, struct.pack(f"<{len(mini_fat)}I", *mini_fat), *large]
    blocks.insert(0, bytes(128 * len(entries)))
    fat: list[int] = []
    firsts = []
    for block in blocks:
        count = -(-len(block) // _SECTOR)
        firsts.append(len(fat) if count else _END)
        fat += _chain(len(fat), count)
    starts = [(firsts[2 - start], size) if start < 0 else (start, size) for start, size in starts]
    starts[0] = (firsts[1], len(mini))
    blocks[0] = b"".join(_entry(entry, *place) for entry, place in zip(entries, starts, strict=True))
    count = next(number for number in range(1, 110) if number * 128 >= len(fat) + number)
    fat_at = len(fat)
    fat += [_FAT] * count
    table = struct.pack(f"<{len(fat)}I", *fat) + b"\xff" * (count * _SECTOR - 4 * len(fat))
    places = [*range(fat_at, fat_at + count), *[_FREE] * (109 - count)]
    mini_sectors = -(-len(blocks[2]) // _SECTOR)
    head = struct.pack("<8s16xHHHHH6xIIIIIIIII", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 0x3E, 3, 0xFFFE, 9, 6, 0,
                       count, firsts[0], 0, _CUTOFF, firsts[2], mini_sectors, _END, 0)  # fmt: skip
    body = b"".join(_padded(block, b"\xff" if number == 2 else b"\0") for number, block in enumerate(blocks))
    return head + struct.pack("<109I", *places) + body + table


def _enter(entries: list[list[object]], parent: int, storage: Storage) -> None:
    """The entries of a storage as one chain, each on the right of the one before, in the order in which OLE2 sorts."""
    before = -1
    for name in sorted(storage, key=lambda name: (len(name), name.upper())):
        held = storage[name]
        number = len(entries)
        entries.append([name, 2 if isinstance(held, bytes) else 1, held, _NONE, _NONE, _NONE])
        entries[parent if before < 0 else before][5 if before < 0 else 4] = number
        before = number
        if not isinstance(held, bytes):
            _enter(entries, number, held)


def _entry(entry: list[object], start: int, size: int) -> bytes:
    name, kind, _, left, right, child = entry
    text = str(name).encode("utf-16-le")
    start = 0 if kind == 1 else start
    return struct.pack("<64sHBBIII16x4x16xIQ", text, len(text) + 2, kind, 1, left, right, child, start, size)


def _chain(first: int, count: int) -> list[int]:
    return [*range(first + 1, first + count), _END] if count else []


def _padded(block: bytes, sign: bytes) -> bytes:
    return block + sign * (-len(block) % _SECTOR)

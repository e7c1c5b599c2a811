"""Draws the map of the house, noarkit/map.svg: the order of imports is that of tests/test_layers.py, what each room
does stands in noarkit/README.md. Gives the same picture for the same two, byte for byte."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from tests.test_layers import APART, GROUND, LAYERS

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "noarkit" / "README.md"
PICTURE = ROOT / "noarkit" / "map.svg"

WIDTH = 1180
MARGIN = 30
TOWER_LEFT, TOWER_WIDTH = MARGIN + 26, 850
ROW_HEIGHT, ROW_GAP, BAND_GAP = 30, 6, 14
TOWER_TOP = 345
NAME_WIDTH = 92
CHARACTER_WIDTH = 5.9
"""That of an average character of what a room does, in the size it is written in."""

BANDS = ("#6b4e9b", "#2f6690", "#2a7f62", "#b0702c", "#6c757d")
APART_COLOUR = "#a23b52"
INK, QUIET_INK, PAPER = "#1f2933", "#5b6770", "#ffffff"
SANS = "Inter, 'Segoe UI', Helvetica, Arial, sans-serif"
MONO = "'JetBrains Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace"

ROAD_IN = (
    ("a place", "files, mail, database, package, service", "sources, forms, services"),
    ("source records", "one at a time, with a key", "records"),
    ("entities", "what each record becomes", "recipes"),
    ("plan", "graph.db: order, shards, chunks; locked", "graph"),
    ("chunks", "intent, sent, done, or in doubt", "loading"),
    ("archive", "transactions and uploads", "archive"),
)
ROAD_OUT = (
    ("pages", "every number with its list", "reports"),
    ("validation", "every rule of the form", "forms"),
    ("package", "Noark 5, E-ARK, DIAS, BagIt", "forms"),
    ("store", "what was fetched, resumable", "extraction"),
    ("verification", "source and archive compared", "loading"),
    ("answers", "queries and downloads", "archive"),
)


@dataclass(frozen=True, slots=True)
class Room:
    """A room: its name, what it does, and the number of its band, the highest being 0."""

    name: str
    purpose: str
    band: int


def main() -> int:
    """Writes the picture."""
    PICTURE.write_text(drawing(), "utf-8")
    return 0


def rooms() -> dict[str, Room]:
    """The rooms by name, as the tables of the README have them. A table is a band."""
    found: dict[str, Room] = {}
    band = -1
    for line in README.read_text("utf-8").splitlines():
        if re.fullmatch(r"\| room +\| .*", line):
            band += 1
        row = re.fullmatch(r"\| `([a-z_]+)(?:/|\.py)?` +\| (.*?) *\|", line)
        if row and band >= 0:
            found[row[1]] = Room(row[1], row[2].replace("`", ""), band)
    return found


def drawing() -> str:
    """The picture as SVG, without reference to anything outside of it."""
    rooms_by_name = rooms()
    tower, bottom = tower_lines(rooms_by_name)
    height = bottom + 30
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="{SANS}" role="img"'
        ' aria-labelledby="title">',
        '<title id="title">The rooms of noarkit in the order of their imports, and the road of a record</title>',
        "<defs>",
        marker("arrow", QUIET_INK),
        marker("start", APART_COLOUR),
        "</defs>",
        f'<rect width="{WIDTH}" height="{height}" fill="{PAPER}"/>',
        *road_lines(rooms_by_name),
        *tower,
        *apart_lines(rooms_by_name),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def road_lines(rooms_by_name: dict[str, Room]) -> Iterator[str]:
    """The road of a record: into the archive from left to right, out of it below, from right to left."""
    yield heading(MARGIN, 40, "The road of a record")
    step = (WIDTH - 2 * MARGIN) / len(ROAD_IN)
    width = step - 26
    for row, (stops, top) in enumerate(((ROAD_IN, 62), (ROAD_OUT, 186))):
        for place, (name, told, room_names) in enumerate(stops):
            left = MARGIN + place * step
            colour = BANDS[rooms_by_name[room_names.split(", ")[0]].band]
            yield box(left, top, width, 90, colour, light=True)
            yield text(left + 12, top + 24, name, 14, INK, weight=600)
            for n, line in enumerate(wrapped(told, int((width - 20) / CHARACTER_WIDTH))):
                yield text(left + 12, top + 43 + 15 * n, line, 11, QUIET_INK)
            yield text(left + 12, top + 80, room_names, 9.5, colour, family=MONO)
            if place + 1 < len(stops):
                ends = (left + width + 3, left + step - 3) if row == 0 else (left + step - 3, left + width + 3)
                yield arrow(ends[0], top + 45, ends[1], top + 45)
    right = MARGIN + (len(ROAD_IN) - 0.5) * step - 13
    yield arrow(right, 155, right, 183)


def tower_lines(rooms_by_name: dict[str, Room]) -> tuple[list[str], int]:
    """The rooms on top of each other, the lowest at the bottom; and where the tower ends."""
    lines = [heading(MARGIN, TOWER_TOP - 18, "The rooms: a room imports only from rooms below it")]
    tops = row_tops(rooms_by_name)
    for names in LAYERS:
        width = (TOWER_WIDTH - 8 * (len(names) - 1)) / len(names)
        for place, name in enumerate(names):
            room = rooms_by_name[name]
            lines += room_lines(room, TOWER_LEFT + place * (width + 8), tops[name], width, BANDS[room.band])
    bottom = max(tops.values()) + ROW_HEIGHT
    lines.append(arrow(MARGIN + 8, TOWER_TOP + 4, MARGIN + 8, bottom - 2))
    return lines, bottom


def row_tops(rooms_by_name: dict[str, Room]) -> dict[str, int]:
    """Where the row of each room begins: the highest room first, with a gap above each band."""
    tops: dict[str, int] = {}
    top, band = TOWER_TOP, 0
    for names in reversed(LAYERS):
        if rooms_by_name[names[0]].band != band:
            band = rooms_by_name[names[0]].band
            top += BAND_GAP
        tops |= dict.fromkeys(names, top)
        top += ROW_HEIGHT + ROW_GAP
    return tops


def room_lines(room: Room, left: float, top: float, width: float, colour: str) -> Iterator[str]:
    """A room: its name on its colour, and what it does. Raises `ValueError` where that is too long for its place."""
    space = int((width - NAME_WIDTH - 22) / CHARACTER_WIDTH)
    if len(room.purpose) > space:
        raise ValueError(f"{room.name}: {len(room.purpose)} characters, and there is room for {space}: {room.purpose}")
    yield box(left, top, width, ROW_HEIGHT, colour, light=True)
    yield box(left, top, NAME_WIDTH, ROW_HEIGHT, colour)
    yield text(left + 10, top + 20, room.name, 12.5, PAPER, family=MONO, weight=600)
    yield text(left + NAME_WIDTH + 12, top + 19.5, room.purpose, 12, INK)


def apart_lines(rooms_by_name: dict[str, Room]) -> Iterator[str]:
    """What stands apart: two rooms of the tower start it, and it knows a few of the lowest alone."""
    tops = row_tops(rooms_by_name)
    left, width, height = TOWER_LEFT + TOWER_WIDTH + 54, 190, 128
    box_tops = {name: TOWER_TOP + 30 + place * (height + 34) for place, name in enumerate(APART)}
    for name, top in box_tops.items():
        yield box(left, top, width, height, APART_COLOUR, light=True)
        yield box(left, top, width, ROW_HEIGHT, APART_COLOUR)
        yield text(left + 12, top + 20, name, 12.5, PAPER, family=MONO, weight=600)
        for n, line in enumerate(wrapped(rooms_by_name[name].purpose, 29)):
            yield text(left + 12, top + 52 + 17 * n, line, 12, INK)
    edge = TOWER_LEFT + TOWER_WIDTH + 3
    for name, end in (("cli", box_tops["server"] + 20), ("embedded", box_tops["server"] + height - 16)):
        begin = tops[name] + ROW_HEIGHT // 2
        yield (
            f'<path d="M {edge} {begin} C {edge + 34} {begin} {left - 34} {end} {left - 4} {end}" fill="none"'
            f' stroke="{APART_COLOUR}" stroke-width="1.6" stroke-dasharray="5 4" marker-end="url(#start)"/>'
        )
    middle = left + width / 2
    yield arrow(middle, box_tops["standin"] + height + 6, middle, tops["model"] - 4)
    ground = ", ".join(name for names in reversed(LAYERS) for name in names if name in GROUND)
    note = f"Dashed: who starts it. What stands apart imports only {ground}."
    for n, line in enumerate(wrapped(note, 31)):
        yield text(left, tops["model"] + 16 + 17 * n, line, 12, QUIET_INK)


def wrapped(words: str, width: int) -> list[str]:
    """Lines of at most that many characters."""
    lines = [""]
    for word in words.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def heading(left: float, top: float, words: str) -> str:
    """A heading of a part of the picture."""
    return text(left, top, words, 17, INK, weight=600)


def text(left: float, top: float, words: str, size: float, colour: str, *, family: str = "", weight: int = 400) -> str:
    """A line of text; `top` is its base line."""
    font = f' font-family="{family}"' if family else ""
    bold = f' font-weight="{weight}"' if weight != 400 else ""
    return f'<text x="{left:g}" y="{top:g}" font-size="{size:g}" fill="{colour}"{font}{bold}>{escape(words)}</text>'


def box(left: float, top: float, width: float, height: float, colour: str, *, light: bool = False) -> str:
    """A box with round corners, filled with the colour or a breath of it."""
    fill = (
        f'fill="{colour}" fill-opacity="0.09" stroke="{colour}" stroke-opacity="0.55"' if light else f'fill="{colour}"'
    )
    return f'<rect x="{left:.4g}" y="{top:.4g}" width="{width:.4g}" height="{height:.4g}" rx="6" {fill}/>'


def arrow(left: float, top: float, right: float, bottom: float) -> str:
    """A line with an arrow at its second end."""
    return (
        f'<line x1="{left:.5g}" y1="{top:.5g}" x2="{right:.5g}" y2="{bottom:.5g}" stroke="{QUIET_INK}"'
        ' stroke-width="1.6" marker-end="url(#arrow)"/>'
    )


def marker(name: str, colour: str) -> str:
    """The head of an arrow."""
    return (
        f'<marker id="{name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        f'<path d="M 0 0 L 8 4 L 0 8 z" fill="{colour}"/></marker>'
    )


if __name__ == "__main__":
    sys.exit(main())

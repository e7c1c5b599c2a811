"""Small charts as inline SVG: no script, no colour that carries the meaning alone, every figure also in words.

A chart is drawn from the same rows as the table beside it; what is shown depends on nothing else. Texts that must be
readable at any width stand outside the drawing, in HTML.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from html import escape

from markupsafe import Markup

from noarkit.words.texts import grouped

Row = tuple[str, int]

_BROAD, _NARROW = 940, 340
_HEIGHT = 150
_MOST_COLUMNS = {_BROAD: 60, _NARROW: 30}
_SPANS = (1, 10, 100, 1000)
_LABEL_STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
_LABEL_PX = 46


def bar(value: int, most: int) -> Markup:
    """A cell with a bar as long as the value; the number stands in another cell."""
    width = max(100 * value / most, 0.5) if value and most else 0
    return Markup(  # noqa: S704  # numbers only
        '<td class="bars"><svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="bar" width="{width:.1f}" height="10"/></svg></td>'
    )


def columns(rows: Sequence[Row], title: str, unit: Callable[[int], str] = str) -> Markup:
    """A column a year on a linear axis, also for years without anything; decades or centuries where there are many.

    Rows whose label is no year are not drawn. `unit` says how many years a column stands for, if more than one.
    """
    years = Counter({int(label): value for label, value in rows if label.isascii() and label.isdecimal()})
    if len(years) < 2:
        return Markup()
    drawings = []
    for name, width in (("broad", _BROAD), ("narrow", _NARROW)):
        span = next((s for s in _SPANS if _slots(years, s) <= _MOST_COLUMNS[width]), _SPANS[-1])
        note = "" if span == 1 else unit(span)
        drawings.append(_columns(years, (span, note), width, (f"columns {name}", title)))
    return Markup(f"<figure>{''.join(drawings)}</figure>")  # noqa: S704  # every text in it was escaped


def moments(rows: Sequence[Row], title: str) -> Markup:
    """A column a moment, in the order of the rows, each with its label where there is room."""
    if len(rows) < 2:
        return Markup()
    most, step = max(value for _, value in rows) or 1, _BROAD / len(rows)
    every = max(1, round(_LABEL_PX / step))
    parts = list(_grid(most, _BROAD))
    for place, (label, value) in enumerate(rows):
        x, wide = place * step, min(step * 0.8, 60)
        height = max((_HEIGHT - 20) * value / most, 1 if value else 0)
        parts.append(
            f'<rect class="bar" x="{x + (step - wide) / 2:.1f}" y="{_HEIGHT - height:.1f}" width="{wide:.1f}"'
            f' height="{height:.1f}"><title>{escape(label)}: {grouped(value)}</title></rect>'
        )
        if place % every == 0:
            parts.append(f'<text x="{x + step / 2:.1f}" y="{_HEIGHT + 15}" text-anchor="middle">{escape(label)}</text>')
    return Markup(  # noqa: S704  # every text in it was escaped
        f'<figure><svg role="img" aria-label="{escape(title)}" viewBox="0 0 {_BROAD} {_HEIGHT + 22}"'
        f' xmlns="http://www.w3.org/2000/svg"><title>{escape(title)}</title>{"".join(parts)}</svg></figure>'
    )


def _slots(years: Counter[int], span: int) -> int:
    return max(years) // span - min(years) // span + 1


def _columns(years: Counter[int], grouping: tuple[int, str], width: int, names: tuple[str, str]) -> str:
    """One drawing: columns of so many years each, which a note says in words where it is not one."""
    span, note = grouping
    first, slots = min(years) // span, _slots(years, span)
    values = [0] * slots
    for year, value in years.items():
        values[year // span - first] += value
    most, step = max(values) or 1, width / slots
    labels = next((n for n in _LABEL_STEPS if n * step >= _LABEL_PX), _LABEL_STEPS[-1])
    parts = [*_grid(most, width), f'<text x="{width}" y="14" text-anchor="end">{escape(note)}</text>' if note else ""]
    for place, value in enumerate(values):
        year, x, wide = (first + place) * span, place * step, min(step * 0.8, 60)
        height = max((_HEIGHT - 20) * value / most, 1 if value else 0)
        name = str(year) if span == 1 else f"{year}–{year + span - 1}"
        if value:
            parts.append(
                f'<rect class="bar" x="{x + (step - wide) / 2:.1f}" y="{_HEIGHT - height:.1f}" width="{wide:.1f}"'
                f' height="{height:.1f}"><title>{name}: {grouped(value)}</title></rect>'
            )
        if (first + place) % labels == 0 or slots <= 2:
            middle = min(max(x + step / 2, 16), width - 16)
            parts.append(f'<text x="{middle:.1f}" y="{_HEIGHT + 15}" text-anchor="middle">{year}</text>')
    kind, title = names
    title = f"{title} ({note})" if note else title
    return (
        f'<svg class="{kind}" role="img" aria-label="{escape(title)}" viewBox="0 0 {width} {_HEIGHT + 22}"'
        f' xmlns="http://www.w3.org/2000/svg"><title>{escape(title)}</title>{"".join(parts)}</svg>'
    )


def _grid(most: int, width: int) -> Iterator[str]:
    """The axis from zero, and the line of the highest column with its number."""
    yield f'<line class="grid" x1="0" y1="20" x2="{width}" y2="20"/><text x="0" y="14">{grouped(most)}</text>'
    yield f'<line class="axis" x1="0" y1="{_HEIGHT}" x2="{width}" y2="{_HEIGHT}"/>'


def shares(rows: Sequence[Row], title: str, decimal: Callable[[float], str] = "{:.1f}".format) -> Markup:
    """One bar cut into shares, each named with its number below, in the same order."""
    total = sum(value for _, value in rows)
    if not total:
        return Markup()
    cut, names, x = [], [], 0.0
    for place, (label, value) in enumerate(rows):
        if value:
            wide = 1000 * value / total
            cut.append(f'<rect class="s{place % 6}" x="{x:.1f}" width="{max(wide - 2, 1):.1f}" height="20"/>')
            names.append(
                '<li><svg viewBox="0 0 10 10" aria-hidden="true">'
                f'<rect class="s{place % 6}" width="10" height="10"/></svg>'
                f"{escape(label)}: {grouped(value)} ({decimal(100 * value / total)} %)</li>"
            )
            x += wide
    return Markup(  # noqa: S704  # every text in it was escaped above
        f'<figure><svg class="strip" role="img" aria-label="{escape(title)}" viewBox="0 0 1000 20"'
        f' preserveAspectRatio="none" xmlns="http://www.w3.org/2000/svg"><title>{escape(title)}</title>{"".join(cut)}'
        f'</svg><ul class="legend">{"".join(names)}</ul></figure>'
    )

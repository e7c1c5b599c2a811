"""Small charts as inline SVG: no script, no colour that carries the meaning alone, every figure also in words.

A chart is drawn from the same rows as the table beside it; what is shown depends on nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from markupsafe import Markup

Row = tuple[str, int]

_WIDTH = 720
_LABEL = 230
_BAR_HEIGHT = 18
_GAP = 6
_COLUMN_HEIGHT = 150
_MOST_COLUMNS = 60


def bars(rows: Sequence[Row], title: str) -> Markup:
    """A bar a row, longest value full width, each with its label and number."""
    if not rows:
        return Markup()
    most = max(value for _, value in rows) or 1
    room = _WIDTH - _LABEL - 90
    parts = []
    for place, (label, value) in enumerate(rows):
        y = place * (_BAR_HEIGHT + _GAP)
        length = max(room * value / most, 1 if value else 0)
        parts.append(
            f'<text x="{_LABEL - 8}" y="{y + 13}" text-anchor="end">{escape(_short(label))}</text>'
            f'<rect class="bar" x="{_LABEL}" y="{y}" width="{length:.1f}" height="{_BAR_HEIGHT}"/>'
            f'<text x="{_LABEL + length + 6:.1f}" y="{y + 13}">{_group_digits(value)}</text>'
        )
    return _svg(title, _WIDTH, len(rows) * (_BAR_HEIGHT + _GAP), parts)


def columns(rows: Sequence[Row], title: str) -> Markup:
    """A column a row, for years; labels stand under every few columns so that they do not meet."""
    shown_rows = rows[-_MOST_COLUMNS:]
    if not shown_rows:
        return Markup()
    most = max(value for _, value in shown_rows) or 1
    step = _WIDTH / len(shown_rows)
    label_step = max(1, round(44 / step))
    parts = [f'<line class="axis" x1="0" y1="{_COLUMN_HEIGHT}" x2="{_WIDTH}" y2="{_COLUMN_HEIGHT}"/>']
    for place, (label, value) in enumerate(shown_rows):
        height = max((_COLUMN_HEIGHT - 16) * value / most, 1 if value else 0)
        x, wide = place * step, min(step * 0.8, 60)
        parts.append(
            f'<rect class="bar" x="{x + (step - wide) / 2:.1f}" y="{_COLUMN_HEIGHT - height:.1f}" width="{wide:.1f}"'
            f' height="{height:.1f}"><title>{escape(label)}: {_group_digits(value)}</title></rect>'
        )
        if place % label_step == 0:
            middle = x + step / 2
            parts.append(
                f'<text x="{middle:.1f}" y="{_COLUMN_HEIGHT + 15}" text-anchor="middle">{escape(label)}</text>'
            )
    return _svg(title, _WIDTH, _COLUMN_HEIGHT + 22, parts)


def shares(rows: Sequence[Row], title: str, decimal: Callable[[float], str] = "{:.1f}".format) -> Markup:
    """One bar cut into shares, each with a pattern of its own and its name below."""
    total = sum(value for _, value in rows)
    if not total:
        return Markup()
    parts, x = [], 0.0
    shown_rows = [(place, label, value) for place, (label, value) in enumerate(rows) if value]
    for line, (place, label, value) in enumerate(shown_rows):
        wide = _WIDTH * value / total
        parts.append(f'<rect class="share s{place % 6}" x="{x:.1f}" y="0" width="{wide:.1f}" height="26"/>')
        y = 40 + line * 20
        percent = decimal(100 * value / total)
        parts.append(
            f'<rect class="share s{place % 6}" x="0" y="{y}" width="14" height="14"/>'
            f'<text x="22" y="{y + 12}">{escape(label)}: {_group_digits(value)} ({percent} %)</text>'
        )
        x += wide
    return _svg(title, _WIDTH, 40 + len(shown_rows) * 20, parts)


def _svg(title: str, width: int, height: int, parts: Sequence[str]) -> Markup:
    return Markup(  # noqa: S704  # every text in it was escaped above
        f'<svg role="img" aria-label="{escape(title)}" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )


def _short(label: str) -> str:
    return label if len(label) <= 34 else f"{label[:33]}…"


def _group_digits(number: int) -> str:
    return f"{number:,}".replace(",", "\u00a0")

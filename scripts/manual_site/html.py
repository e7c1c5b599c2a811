"""Writes the blocks of a chapter as HTML. Everything that a text holds is escaped; a link stays within the manual."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from noarkit.manual.markdown import (
    Block,
    Code,
    Heading,
    Inline,
    Items,
    Listing,
    Paragraph,
    Span,
    Table,
    anchor,
    plain_text,
)


def html_text(blocks: Iterable[Block]) -> str:
    """The body of a page."""
    return "\n".join(_html(block) for block in blocks)


def _html(block: Block) -> str:
    match block:
        case Heading():
            name = escape(anchor(plain_text(block.text)))
            return f'<h{block.level} id="{name}">{_inline(block.text)}</h{block.level}>'
        case Paragraph():
            return f"<p>{_inline(block.text)}</p>"
        case Code():
            return f"<pre><code>{escape(chr(10).join(block.lines))}</code></pre>"
        case Items():
            kind = "ol" if block.numbered else "ul"
            return f"<{kind}>" + "".join(f"<li>{_inline(item)}</li>" for item in block.items) + f"</{kind}>"
        case Table():
            return _table(block)
        case Listing():
            return ""


def _table(table: Table) -> str:
    head = f"<thead>{_row(table.head, 'th')}</thead>" if table.head else ""
    body = "".join(_row(row, "td") for row in table.rows)
    return f'<div class="table"><table>{head}<tbody>{body}</tbody></table></div>'


def _row(cells: Iterable[Inline], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{_inline(cell)}</{tag}>" for cell in cells) + "</tr>"


def _inline(text: Inline) -> str:
    return "".join(_span(span) for span in text)


def _span(span: Span) -> str:
    shown = escape(span.text)
    match span.kind:
        case "code":
            return f"<code>{shown}</code>"
        case "strong":
            return f"<strong>{shown}</strong>"
        case "link":
            return _link(span.target, shown)
        case "text":
            return shown


def _link(target: str, shown: str) -> str:
    """A link to a chapter or a heading; any other address is shown and not linked, so that no page leads outside."""
    page, mark, place = target.partition("#")
    if not page or page.endswith(".md"):
        address = (page.removesuffix(".md") + ".html" if page else "") + mark + place
        return f'<a href="{escape(address)}">{shown}</a>'
    return f"{shown} ({escape(target)})"

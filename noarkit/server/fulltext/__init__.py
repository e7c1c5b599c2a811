"""The full-text area: objects found by the words in their metadata and in the text of their documents.

index keeps one entry an object, brought up to date by the change log before each search; words reads what people type;
doctypes says what belongs to a find; search finds; tell shows it. The text of a document is what `set` gave, else what
documents has read from its file in the background.
"""

from __future__ import annotations

from noarkit.server.calling import Route
from noarkit.server.fulltext import documents
from noarkit.server.fulltext.index import set_text, tables
from noarkit.server.fulltext.search import search


def statements() -> list[str]:
    """The index, the texts, and how far the change log has been followed."""
    return [*tables(), *documents.tables()]


def routes() -> list[Route]:
    """The two calls."""
    return [
        Route("POST", "/full-text/search", search, has_body=True),
        Route("POST", "/full-text/set", set_text, has_body=True),
    ]

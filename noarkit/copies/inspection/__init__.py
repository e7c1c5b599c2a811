"""What is in a document, seen in its bytes before any converter opens it: findings, and words to compare.

    scan        the inspection of a document, by what it is
    words       the words of a document, by what it is
    ooxml       Word, Excel and PowerPoint since 2007: what a copy would lose or invent; ooxml_words: words of slides
    odf         OpenDocument: the same
    binary      Word, Excel and PowerPoint before 2007
    rtf         Rich Text Format, and its words
    pdf         PDF: locks, signatures, attachments, scripts
    markup      web pages and drawings: what they would fetch; the words of a page
    mail_words  the words of a mail
    passages    each tracked change, hidden text, comment; odf_passages: of OpenDocument; passage: one of them
    pictures    the size and frames of a picture, by its header

Everything is bounded before it is read: the members of a package in number, size and ratio, XML in depth and without a
document type, pictures by the pixels that their header says.
"""

from __future__ import annotations

from noarkit.copies.inspection.scan import inspect
from noarkit.copies.inspection.words import words_of

__all__ = ["inspect", "words_of"]

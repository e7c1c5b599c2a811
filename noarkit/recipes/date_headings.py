"""Headings of the columns and fields that hold a day, in registers, tables and whatever a recipe is proposed for.

A register is read by them, a proposal takes the first that is there, and columns are known by them as by their values.

>>> import re
>>> all(re.search(DOCUMENT_DAY, name) for name in DOCUMENT_DAYS)
True
"""

from __future__ import annotations

DOCUMENT_DAYS = ("dokumentetsdato", "dokumentdato", "brevdato", "journaldato", "document_date", "dato", "date")
"""Names of the day of a document, the surest first."""
TIMES_OF_SYSTEMS = ("mail.date", "created_at", "created", "modified")
"""Names of times that a system wrote down, which say less."""
_ANY_DAY = "dato|date"
LETTER_DAY = r"dok\w*dato|brev\w*dato"
"""What a heading holds that is of the day of a document and of no other."""
DOCUMENT_DAY = rf"{LETTER_DAY}|{_ANY_DAY}"
"""What a heading of the day of a document holds."""
CASE_DAY = rf"{_ANY_DAY}|opprett|start|opened"
"""What a heading of the day that a case began holds."""
CLOSING_DAY = "avslutt|lukket|ferdig|closed"
"""What a heading of the day that a case ended holds."""

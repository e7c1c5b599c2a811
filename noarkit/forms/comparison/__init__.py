"""Compares two extracts, or an extract and an archive, unit by unit.

ledger     stores both sides in a temporary database and finds the differences
elements   reads an extract as rows of its XML elements, to compare two extracts
editions   translates names and values of older versions of Noark 5
entities   reads an extract and an archive as rows of the archive's fields
rules      differences that are expected: new ids, generated dates, paths of files
"""

from noarkit.forms.comparison.compare import CompareResult, compare_extracts, compare_with_archive
from noarkit.forms.comparison.ledger import Difference
from noarkit.forms.comparison.rules import By

__all__ = ["By", "CompareResult", "Difference", "compare_extracts", "compare_with_archive"]

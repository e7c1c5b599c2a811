"""Compares what two places hold, unit by unit: two extracts, or an extract and an archive.

ledger     both sides in one database on disk, and what of them does not agree
elements   an extract as its XML tells it, for two extracts
editions   what older versions of Noark 5 call otherwise
entities   an extract and an archive in the words of the archive
rules      differences that are declared: new ids, generated dates, where a file lies
"""

from noarkit.validate.compare.compare import Compared, compare_extracts, compare_with_archive
from noarkit.validate.compare.ledger import Difference
from noarkit.validate.compare.rules import By

__all__ = ["By", "Compared", "Difference", "compare_extracts", "compare_with_archive"]

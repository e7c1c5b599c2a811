"""E-ARK packages as sources: each file of a representation is a record, and what an ERMS document tells is taken as it
tells it.

source    the package as records
records   one file, or one unit of an ERMS document, as a record
titles    what descriptive metadata calls the package and its files
streams   a file as a plan remembers it, with the checksum that the METS tells
"""

from noarkit.forms.eark.source.source import KIND, EarkSource, find_eark, reopen_eark

__all__ = ["KIND", "EarkSource", "find_eark", "reopen_eark"]

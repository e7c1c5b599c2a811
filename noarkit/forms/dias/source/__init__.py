"""DIAS packages as sources: the Noark 5 extract in one is read as an extract, other content file by file.

source   the content of a package that holds no extract
"""

from noarkit.forms.dias.source.source import KIND, DiasSource, find_dias

__all__ = ["KIND", "DiasSource", "find_dias"]

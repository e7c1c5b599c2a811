"""Converters: each makes a file of a document, and none decides whether that file is a copy.

registry  the converters of a site, by name
text      text in any of the usual encodings → UTF-8
"""

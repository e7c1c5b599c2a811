"""The manual: chapters in English and Norwegian, read by `noarkit help CHAPTER`, the manual page and `scripts/manual`.

chapters   which chapters there are, in their order, and the text of each
markdown   reads the part of Markdown that the chapters use, into blocks
terminal   writes blocks as plain text
"""

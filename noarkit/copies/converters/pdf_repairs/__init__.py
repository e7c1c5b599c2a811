"""Repairs that make PDF/A of an ordinary PDF and leave the content of its pages as it is.

table        every repair, in order
ledger       what repairs tell, and how one refuses a document
objects      walks over the objects of a PDF
structure    trailer, types of values, keys that draw nothing
actions      scripts, actions and signatures' leftovers: out
forms        fields of a form become part of the page; field_looks: draws those that have no appearance
notes        annotations: what may stay, what needs an appearance; note_looks: draws it
lettering    text in a font of ours, for appearances
layers       what PDF/A asks of layers
resources    colours and patterns that nothing uses
colours      CMYK without a profile
fonts        fonts that are not embedded
encodings    which glyph a code of a simple font means
twins        fonts of this machine that stand for others; made_fonts: a subset made to measure of one
cid_widths   widths in a program of a composite font
"""

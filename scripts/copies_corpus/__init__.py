"""Documents of many kinds for archival copies, and what the shipped policy makes of each.

letters       made-up Norwegian texts: the same number gives the same letter
kind          what is said of a kind: how it is written, what becomes of it, which kind is its good twin
kinds         every kind
office_kinds  office documents that lose something on their way to pages, each beside its good twin
pdf_kinds     PDFs of office programs, scanners and forms
text_kinds    texts, mails, pictures of several pages
writing       writes them into a folder, with `expected.json` beside them
judging       derives copies of all, and compares
__main__      the command

The bytes are made by `tests/copies/corpus/`, which tests of single steps use too.
"""

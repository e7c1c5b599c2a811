"""Converters: programs and libraries that make a file of a document, each held on a short lead.

registry     the converters of a site, by name
text         text in any of the usual encodings → UTF-8
versions     how a program is asked for its version
library      runs a library on a document in a child process; one_by_one: the ground of those that take one at a time
pdf          PDF → PDF/A, pages untouched; pdfa_declaring: writes it, or names the rules against it
pdf_repairs/ what is mended in a PDF for that; pdf_facts: what decides whether a converter may have one
pdftocairo   draws the pages of a PDF anew, where no repair is enough
ghostscript  the last resort for a PDF; pdf_view: a smaller PDF to read
image        pictures → PNG, TIFF, or pages of PDF/A; views: pictures to look at
page         web pages and SVG → PDF/A; page_writer: draws HTML and fetches nothing
mail         mails → PDF/A; markup_cleaning: keeps of a stranger's HTML what shows text
media        sound → FLAC, video → FFV1 in Matroska, decoded and compared; media_view: both to listen to and look at;
             ffmpeg: the program behind them
tables       spreadsheets → tables in a SIARD archive
snapshot     what a service answered in JSON → PDF/A
ocr          lays the text of a scan behind its pages, where a policy wants it

office              LibreOffice, in batches
office_filters      by which filter it reads a format and writes a target, with which options
office_profile      its settings for strangers' documents
office_fates        who in a batch was made, refused or fatal
pdfa_writer         finishes a PDF as PDF/A
fonts               fonts asked for, fonts borne, fonts that are here

freezing            a temporary copy in which fields show what they showed when it was stored
freezing_edits      which bytes of a part to take out; the ground of the editors
freezing_word       fields of Word
freezing_sheets     cells of spreadsheets
freezing_slides     dates of slides
freezing_odf        fields and cells of OpenDocument
freezing_codes      finds fields in doc, xls, ppt and rtf, which are not rewritten
"""

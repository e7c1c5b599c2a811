"""One module a kind of document; all of them run in the child.

    text       lines of any encoding
    findings   what is told of a document that is not shown, or was not done
    blocks     headings, paragraphs and tables as they are gathered, and pages of them
    tables     CSV and TSV; workbooks: xlsx and ods
    pdf        pages as pictures; pdf_names: what a PDF would do if it were opened
    pictures   images and their frames; picture_sizes: their size by the header alone
    prose      docx, odt and odp; slides: pptx; richtext: rtf; markup: HTML as text
    mail       eml, msg, mbox
    members    zip and tar
    data       JSON
    plain      what is played, or only offered

What one cannot show it refuses with a code; whatever else a library raises is told as damage.
"""

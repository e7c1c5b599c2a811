"""What a file is, and what stands in it, whoever asks: a source, a search, a viewer, a gate of copies.

    detect      formats and media types, by the bytes before the name; containers: what lies in a zip or OLE file
    signatures  media types where libmagic does not run
    office_type  the media type of an office document in a zip
    properties  when a document says that it was last saved
    zip_tail    single members of a zip by the list at its end
    damage      documents that are empty, cut off or written in part
    layers      what a document holds, as spans, and which of it each purpose takes
    word        Word documents since 2007 as spans; word_runs: what runs before 2007 are marked with
    word_styles  which styles of a Word document hide text or head it; word_elements: its elements
    opendocument  texts and presentations of OpenDocument as spans; odf_styles: its styles
    odf_manifest  the list of its members
    zipped      zipped documents: bounds, members, locks
    parts       the parts of a zipped office document, found from its main part
    contents    what a document holds beside its words; content_counts: by its format
    ooxml_contents · odf_contents · rtf_contents  of each family of formats
    pdf_contents  what the pages of a PDF draw; pdf_glyphs: letters that they do not
    embedded_pictures  what a picture within a document is made of
    tiff_tables  whether a TIFF is all there
    pictures    pictures, whole or refused; broken_pictures: the switch for those that end early
    refusal     why nothing can be read of a document
    reading     the text of any document, as lines with their layers; encodings: of texts
    office      the text of zipped office documents
    pdf_marks   links, bookmarks and values of a form in a PDF; poppler: what a second reader sees of one
    rtf         the text of Rich Text Format; markup: of web pages; pdf_pages: of PDF, and its pages as pictures
    mail_text   the text of mails and Outlook messages
    mail        mails as fields and attachments; mime: the parts of a mail, by their bytes
    mailbox     the mails of an mbox
    outlook     Outlook messages (.msg)
    slide_dates  the dates of .ppt that are today's
    sheets      the rows of .xlsx; ods_sheets: of .ods; xls_cells: the cells of .xls; cells: a cell of any

Nothing here knows a recipe, a copy or a page.
"""

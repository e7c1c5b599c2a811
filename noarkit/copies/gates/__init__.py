"""What a product must pass before it is a copy. A gate reads the bytes, and trusts neither converter nor exit code.

    registry      which gates a product must pass
    formats       is it the format that was to be made, by its bytes?
    validity      is it valid PDF/A: our validator, and that of the site where one is named
    pages         are there pages, as many as in the original, and none blank that was not?
    letters       are the letters of a PDF in the PDF made of it?
    words         are the words of any other original in it?
    characters    does anything in it say that something was lost?
    contents      is all else that the original holds in it: counted in both, kind by kind?
    cells         are the cells of a spreadsheet in it, each at its place?
    marks         are links, bookmarks, structure and the values of a form still there?
    pictures      does it look like the original?
    texts         is a text the same text in another encoding?
    latest        what several gates read of the same file is read once
    as_delivered  what must hold of a document that is kept as it is

A gate that cannot tell (no words to compare) lets the product pass the others; it never makes a doubt a yes by itself.
"""

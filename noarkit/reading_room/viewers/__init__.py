"""Documents shown safely: a file is what its bytes say, and is read in a child process without network.

    port        what is shown of a document, as plain values
    viewer      views of documents: their bytes laid out, read in the child, put together
    workroom    the folder in which documents lie while they are looked at, and the sandbox
    child       the program that reads a document there
    detection   which format is shown how, and what others may rightly call it
    kinds/      one module a kind of document
    signs       characters that would not be seen, or that change how others are read, made visible
    wire        values as JSON between the child and us, checked
    thumbnails  small pictures of documents, kept beside the catalogue
    content     the raw bytes of a document from an origin of their own
    pages       the view of a document as HTML

Nothing of a document becomes markup of ours: views are texts that a template escapes, pictures that the child drew, or
bytes that a browser gets from another origin, without scripts.
"""

"""The text of documents: read in children that can do no harm, kept beside the catalogue, searched with it.

reading    the text of one document, as far as it is kept
decoding   that text, tidied, with the stretches of it that are not of the body
child      the program that reads documents, one after the other, without network and within limits
children   such programs, as whoever starts them sees them
texts      the file that the texts are kept in
collecting reads what is not read yet, and goes on where it was stopped
"""

"""The catalogue of a place: what it holds as a tree of items with their documents, to be listed, shown and searched.

port        the values of a catalogue, and what a kind of place must be able to do
places/     the kinds of place, each read once as a stream of items
rows        items as rows
index_words  the words that an item is found by; none of what is masked
store       the SQLite file that the items of a place are written into
naming      the item that a person means by a number, an id or a key
masking     items as people see them
access_log  who asked to see what is masked, and why
screening   what may be shown of a plan, whatever became of its records
veil        what stands in an address instead of a ref that tells too much
conversion_steps  the steps of a file that was made of another
moments     points in time as every look shows them, in one zone
statements  what a place states of the bytes of a document
custody     which steps in the life of a file there is evidence for
catalogue   the looks into a store: children, cards, links, searches
entries     items as lines of lists, of the tree and of searches
facets      how hits are spread over the values of filters
vocabulary  the words of an index, and how common they are
text/       the text of documents: read without network, kept beside the catalogue
persons/    where a person occurs, by number or name
query       the language of the search box
expression  a query as an expression of the index
search      hits in pages, with how they are spread over filters
context     the words of a search where they occur, as positions
journal     the journal by day, for the office and for the public
review      what a plan will make of each source record, and what is to be known before it is approved
activity    what happens to a place now, and its history afterwards
"""

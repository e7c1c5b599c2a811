"""graph.db: the entities of one plan or extract, their links, documents and order, in SQLite.

entity   what a plan says about one object, and the records it came from
store    the tables, written in batches and read by cursors, never as a whole
checks   what can be known to be wrong before anything is sent
builder  fills a graph from mapped records
cut      cuts the graph into shards and chunks
freeze   one sha256 over the content of a plan
screened  how many folders, records and documents are screened
losses   values of a source that the archive has no field for
"""

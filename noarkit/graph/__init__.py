"""graph.db: the entities of one plan or extract, their links, documents and order, in SQLite.

entity   what a plan says about one object, and the records it came from
store    the tables, written in batches and read by cursors, never as a whole
checks   what can be known to be wrong before anything is sent
shards   cuts the graph into shards and chunks
"""

"""The kinds of place that have a catalogue: each reads one kind of place as a stream of items.

run            a run folder: what its plan makes, and what became of each record
run_entities   the entities of a run as items, bundle by bundle
files          a folder, or what is packed in a zip or tar
archive        an archive, embedded or behind an address
archive_fetch  its objects, asked for in pages and kept in tables on disk
archive_tree   the tree that is walked from these tables
database       a database: schemas, tables and rows
noark_objects  what an object of Noark 5 says of itself, and how its parts nest
fingerprints   how a place is known to have changed
"""

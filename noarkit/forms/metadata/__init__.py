"""What a package of any form says of itself, in one shape: read from each form's metadata, written into each form's.

model   the shape: parties, identifiers, agreements, content, period, events
facts   package.toml: what no archive and no source knows of a delivery
premis  events and agents of PREMIS 3, 2 and DIAS-PREMIS
eark    METS of an E-ARK package
dias    METS of a DIAS package
bag     bag-info.txt
descriptions  the documents that describe a package, as fields of recipes
derivations   which files of a package are copies of which others
mets          reads the elements of METS, one by one; all who read METS ask it
mets_model    those elements, and who hears of them
mets_facts    what METS says of a package and of its files
premis_entities  objects, events, agents and rights of PREMIS, one by one; all who read PREMIS ask it
premis_objects  what objects of PREMIS say of files
file_facts    what sizes, checksums and names of algorithms mean
copy_chain    follows copies back to their originals, for the rules of every form
provenance    what a new package tells of its making
records       alternative record identifiers of METS
"""

"""From an archive to a package: select what belongs to it, fetch it into a store of its own, assemble it from there.

    run           the whole way, resumable at any step
    selection     which part of an archive is meant; name_lookup: what it names, and what there is where that is not
    account       what the account may see of it
    store         what was fetched: one SQLite file in the work folder beside the package; rows: what a row of it holds
    fetch         pages of objects → store, several types at a time; links: what no object tells by itself
    carried_values  dates and numbers that loaded objects keep for what hangs on them
    creators      who made the archive, in every file of the package
    copies        of a document and its archival copy, the copy is delivered
    delivered_formats  what no depot can use, though its name says a right format
    uncopied      versions that have no archival copy beside them
    documents     the files, checked on the way; originals: those that copies stand for; changes: the change log

    assemble      store → the files of the package
    bundles       units out of the store, each with all that stands within it
    structure     arkivstruktur.xml, streamed; partition: by several processes
    journal_files  loependeJournal.xml and offentligJournal.xml
    schema_files  the schemas that go along
    output        files while they are written
    file_writers  who writes the large files: this process alone, or workers
    workers       child processes that take portions; remote: machines of a cluster that fetch
    loads         what the package lacks of what a load made
    not_in_form   what the form cannot say
    accepted      what a person accepted of the reasons that keep a package back

    delivery      an archive as a package of any form

From one package to another, without an archive between:

    convert       the whole way; making_note: what is noted until its verdict was told
    payload       the files that are carried over, whatever wraps them
    statements    what the source says of itself: metadata, documents, facts of its files
    packing       both, written into the places that the new form has for them
    package_files  the files as another package takes them; naming: how they are called there
    derived       copies beside the documents that they were made of
    renamed       which file goes where, under which name
    left_out      what is not carried over
    databases     a live database as SIARD, and SIARD as a SQLite file
"""

"""From an archive to a package: select what belongs to it, fetch it into a store of its own, assemble it from there.

selection     which part of an archive is meant
store         what was fetched: one SQLite file in the work folder beside the package
fetch         pages of objects → store, several types at a time; links: what no object tells by itself
documents     the files, checked on the way; changes: the change log
facts         package.toml, the account, the code lists: what the description says
assemble      store → the XML files, streamed; not_in_form: what the form cannot say
writing       who writes them: this process alone, or hands (child processes) that take portions
run           the whole way, resumable at any step

From one package to another, without an archive between:

payload       the files that are carried over, whatever wraps them
stated        what the source says of itself: metadata, documents, facts of its files
packing       both, written into the places that the new form has for them; convert: the whole way
"""

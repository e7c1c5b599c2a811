"""An archive service written from the published interface alone, as strict as that lets it be.

It shares no code with noarkit: types, fields, references and code lists are read from the reference tables, the rest
from the published description. Whatever is beyond that is answered as a service answers what it does not know.

tables       the published types, fields, references and code lists
values       what a field takes, and how it is shown
business     the registry of business-specific metadata
store        the objects, their links, files and logs; all or nothing
transaction  save, link, unlink, delete, and the rules at the end
query        the language of queries
services     code lists, logs, bulk calls, access groups
service      requests, tokens, uploads and downloads over real sockets
"""

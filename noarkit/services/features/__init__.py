"""The feature-management connector: definitions with their versions, decisions and reviews, and the audit log.

settings      the settings of a connection, and their defaults
calls         the REST calls, one method for each
definitions   what is archived of a definition, and what is removed
streams       definitions, versions, decisions, reviews and audit entries as items
write_calls   changes on request
commands      the commands of `noarkit connect features:NAME`
consent       access to the tools for assistants
kind          what the rest of the house needs to know of the service, as one value
"""

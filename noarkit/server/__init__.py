"""The embedded archive: a version-1 Noark 5 archive service on SQLite and a content-addressed file store.

The client is tested against it, so it must be able to disagree: it shares only `model`, `safe` and the base
(`errors events words config secrets`) with the rest of noarkit.

    asgi        limits, errors in both formats, routing; the only part that speaks HTTP
    calling     Call and Route         wire   Caller, Answer, Refusal, Rights
    service     one running archive: settings, database, files, clock, rights
    schema      metamodel → tables, columns, links (who stores which link)
    database    one writer, many readers
    values      wire values ↔ stored values, objects as JSON
    identity    clients, tokens          rights   access groups, permissions, who may what
    transaction/  save link unlink delete, all or nothing, rules at the end
    query/      the query language: parse, compile to SQL, page
    areas       uploads downloads code_lists business_metadata access fulltext logs bulk
    fault_script  the test-only script of faults
"""

SERVING_FILE = "serving.json"
"""The file of the data folder that says, while the service runs, where and by whom it is served."""

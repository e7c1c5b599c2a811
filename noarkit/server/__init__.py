"""The embedded archive: a version-1 Noark 5 archive service on SQLite and a content-addressed file store.

The client is tested against it, so it must be able to disagree: it shares only `model`, `safe` and the base
(`errors events words config secrets`) with the rest of noarkit.

    asgi        limits, errors in both formats, routing; the only part that speaks HTTP
    calling     Call and Route
    service     one running archive: settings, database, files, clock, rights
    schema      metamodel → tables, columns, links (who stores which link)
    database    one writer, many readers
    values      wire values ↔ stored values, objects as JSON
    identity    clients, tokens          rights   access groups, permissions, who may what
    transaction/  save link unlink delete, all or nothing, rules at the end
    query/      the query language: parse, compile to SQL, page
    areas       opens an archive folder with all its areas, which are:
    uploads downloads code_lists business_metadata access/ fulltext/ logs bulk whoami   calls of the standard
    change_export change_import   the change log as a whole, for extracts

    safekeeping/  backups of a folder, and its check
    run         the HTTP server of one folder, one process
    settings    server.toml; clients: clients.toml; starter_codes: the codes of a new archive
    exchange    one HTTP exchange, within limits
    wire        caller, answer, refusal; rendering: objects as JSON
    routing     method and path → route
    deadline    the deadline of a call
    fair_queues  accounts that wait take turns
    files       who uploaded what, and what can be removed; file_store: the bytes
    document_text  the text of documents, for full text
    read_log    the access log and the download log; access_notes: what is written to them
    fault_script  the test-only script of faults
"""

DATABASE_FILE, LOGS_FILE, UPLOADS_FILE, STORE_FOLDER = "archive.db", "logs.db", "uploads.db", "files"
"""What lies in the data folder: its databases, and the folder of the file store."""
SERVING_FILE = "serving.json"
"""The file of the data folder that says, while the service runs, where and by whom it is served."""

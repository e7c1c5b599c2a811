"""Connectors: one package for each kind of service, over a shared base.

    registry    finds the kind of a service by its name (noarkit/service_names.py has the names)
    kind        a kind of service as a value: what the rest of the house needs to know of it
    connections  connections by their names, and what a person asks of one
    commands    commands as a table of resources and verbs
    port        the interface of a service to everything above: streams of items, and contents to open
    settings    the configuration of a connection: hosts, credentials, limits
    access/     authentication: consent, keys, tokens that are refreshed once for all threads and processes
    pace        rate limits: several windows at once, shared by all processes of a credential
    wire        one HTTP request: to allowed hosts, with no blind redirects, and with bounded answers
    lines       the connections under it: straight to a host, or through a proxy
    client      requests with authentication, pacing and retries; refusals become faults
    waiting     waits for a service, told while they last
    paging      paged lists, with checks against circles and repeated pages
    prefetch    pages fetched ahead, and several calls at once
    known_keys  the keys that an archive holds, which streams are compared with
    watermarks  how far each stream was read, and what is read again
    canonical   canonical JSON: the same record always gives the same bytes
    blocks      a file-like reader over blocks of bytes
    scrub       texts of a service, made fit to be shown
    readable    a record as a text page for people
    drift       the fields of a stream, compared between two runs
    overrides   settings of a connection from the command line
    source/     the streams of a service as a source of records
    inbox/      webhooks: hints of what to fetch
    mcp/        the client for tools that services offer to assistants
    standins/   what the stand-ins of all services share

Each service is a package beside these (`crm/`, `spend/`, …) and does not depend on the others: its `kind` says what it
is, and `recipe.toml` beside it what becomes of its records.
"""

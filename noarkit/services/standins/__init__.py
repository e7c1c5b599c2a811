"""Stand-ins of the services that connectors talk to: local servers that behave like them, with a data set of any size
that is the same for the same seed. For the demo, rehearsals and tests; they share no code with connectors.

    server           one stand-in on a port of loopback, its config file written before the port opens
    fake_data        believable data without storage: the same seed and place give the same value
    papers           small documents that are what they say they are
    call             a call read off the wire, answered in a thread, with tool servers beside it where they can be had
    paging           pages of lists
    published_calls  calls held to the published list of a service's calls
    issuer           a token service: codes, refresh tokens, expiry, rotation, quotas
    consent          its consent and its tokens over HTTP; mcp_consent and mcp_gate: those of tool servers
    windows          limits that are enforced and counted
    hooks            webhooks with signatures and retries
    control          switches for trouble, and changes to the data, under /standin/
    histories        scripts of changes that are played while somebody reads, drawn from a seed or written in a file
"""

"""Stand-ins of the services that connectors talk to: local servers that behave like them, with a data set of any size
that is the same for the same seed. For the demo, rehearsals and tests; they share no code with connectors.

    serving    one standin on a port of loopback, its config file written before the port opens
    dice       believable data without storage: the same seed and place give the same value
    papers     small documents that are what they say they are
    calling    a call read off the wire, answered in a thread, with tool servers beside it where they can be had
    issuer     a token service: codes, refresh tokens, expiry, rotation, quotas
    consent    its consent and its tokens over HTTP
    windows    limits that are enforced and counted
    hooks      webhooks with signatures and retries
    control    switches for trouble, and changes to the data, under /standin/
"""

"""Connectors: each speaks to one kind of service, over a shared base.

    port        what a service looks like to everything above: streams of items, and contents to open
    settings    a connection as it is configured: hosts, who we are, limits
    access/     how we are let in: consent, keys, tokens that are refreshed once however many ask
    pace        how often we may ask: several windows at once, shared by all processes of a credential
    wire        one request and its answer: to hosts that were named, never redirected blindly, always bounded
    client      requests that get through: tried again where that is safe, mapped to faults where they fail
    paging      lists that end, and end rightly
    marks       how far each stream was read, and what is read again
    canonical   records as bytes that are the same wherever and whenever they are made

A service of its own is a package beside these (`crm/`, `spend/`, …) and knows nothing of the others.
"""

"""Loads a frozen plan into an archive exactly once, through crashes.

    lease       what a worker is given and what it answers: plain, picklable values
    journal     run.db: what is known to have happened; written by the coordinator alone
    preflight   proves what the archive and the account can do; the archive's identity, the guards
    lookup      asks the archive what is there: anchors, source keys, ids
    compose     a chunk's entities → the actions of one transaction
    sending     one chunk: look up, upload, send, or settle and then send
    work        one leased shard, chunk by chunk
    coordinator hands out shards, commits outcomes, stops tidily
    run         a run folder from first to last; close and verify stand beside it

The order that makes it safe: intent durable → look up → upload → send → outcome durable. A chunk without an answer is
in doubt; it is settled by asking after the archive's deadline, twice, and never sent again before that.
"""

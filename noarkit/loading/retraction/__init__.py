"""Takes what a run made out of the archive again, and nothing else.

    selection    what the journal says the run made, in the order in which it can go; what must stay, and why
    judgement    asks the archive about some of it: changed, closed, moved, or in use by others
    doubts       what became of chunks without an answer; after it nothing of the run can land any more
    removal      deletes, asks whether it is gone, and writes that down
    record       the retraction in run.db: intents, what went, what stayed
    run          a retraction from first to last

The order that makes it safe: doubts settled → judged → intent durable → judged again → sent with versions → asked →
outcome durable. A delete is of one id, which no archive gives twice; so a second sending can take nothing else.
"""

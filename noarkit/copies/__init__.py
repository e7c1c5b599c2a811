"""Archival copies: documents made again in a format that a depot takes, each proved before it counts.

A valid PDF/A is not a faithful copy, and exit codes lie. A converter only makes a file; the file becomes a copy when
every gate has let it pass, and not before. The original is never changed, moved or left out, and nothing is tried again
with weaker checks: no copy is better than a doubtful one.

    port         what rules, tasks, products, converters and gates are to one another
    converters   programs that make files of documents, in a sandbox
    reasons      why a document has no copy

The order for one document: identified by its bytes → the policy's rule → inspected → converted in a sandbox → gates →
stored under a key of everything that could change the result.
"""

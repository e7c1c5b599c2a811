"""Archival copies: documents made again in a format that a depot takes, each proved before it counts.

A valid PDF/A is not a faithful copy, and exit codes lie. A converter only makes a file; the file becomes a copy when
every gate has let it pass, and not before. The original is never changed, moved or left out, and nothing is tried again
with weaker checks: no copy is better than a doubtful one.

    acceptance   copies that wait for a person, and who accepted them
    identity     what a document is, by its bytes
    policy/      what is done with documents of each format, as TOML
    answers      what a rule answers to findings
    by_hand      what holds for copies that a person made; offers: whose copy each is; hand_copies: judges them
    checking     every copy against its checksum
    composition  the tools of a process, as a site has them
    conversion   one batch: inspected, converted, held against every gate; in a worker
    converters/  what makes files of documents
    coordinator  leases batches to workers and alone writes what became of them
    inspection/  what is in a document, before any converter opens it
    examination  what this machine has of what copying needs
    gates/       what a product must pass before it is a copy
    inside       copies that lie in the package that is planned
    numbers      how the documents of a walk stand
    pool         worker processes, watched and replaced
    reading      a source's documents, each with the row of its copy
    rows         the tables of derive.db
    sealing      a folder of copies that is carried, signed and proven
    settings     `[copies]` of the config
    objects      the bytes of copies, a file each
    store        derive.db: documents, copies and their states
    toolbox      what turns a document into a copy, as one value
    worker       the process that converts
    tokens       the words of a text, cut the same way in a document and its copy
    preview      the first page of a document as a person sees it
    port         what rules, tasks, products, converters and gates are to one another
    reasons      why a document has no copy
    explanation  which reason is told where every converter has failed
    archived     documents in an archive as a source
    additions    plans copies beside documents that are in the archive already
    planning     plans copies beside the documents they were made of
    lookup       finds the copies of a document in COPIES, for plans

The order for one document: identified by its bytes → the policy's rule → inspected → converted in a sandbox → gates →
stored under a key of everything that could change the result.
"""

"""Loads a frozen plan into an archive exactly once, through crashes.

What comes before a load:

    estimation/      how long a load will take, what it needs, and what limits it
    plan             reads the source, maps, checks, cuts and freezes
    provenance       who made what is loaded, and a sentence on the load in its series
    numbering        numbers of posts, other records and cases by their day, in the year and in the case
    spans            dates that a plan can tell by itself: of a case by what lies in it
    source_columns   columns that become nothing: numbers, dates, directions, screening; cases still open
    source_values    dates, years and numbers that need a right: what would be lost, and how a plan carries them
    acceptance       which archive a run belongs to: the first that was taken, and took
    preflight        proves what the archive and the account can do; the archive's identity, the guards
    closed_material  proves whether the account may add to what is finalised
    registers        makes codes and business-specific fields that the plan needs
    spine            fonds, series, creators, classification
    remote_hashing   documents hashed by the machines of a cluster while a plan is made
    follow_up        a plan that follows an earlier run: of the same source, into the same archive
    earlier_runs     what a plan meets of the runs before it: what is new, and what has other values now
    other_root       whether the archive holds the same already, under another root
    renamed_content  content of a plan that an earlier run archived under other keys

The load:

    run              a run folder from first to last
    part             a part of a run: the spine, k of n, the links; which shards are its own
    merge            the journals of parts, joined into that of the run
    folder           what lies in a run folder, and its lock
    open_run         a run held open: lock, plan and journal taken once for a command
    journal          run.db: what is known to have happened; written by the coordinator alone
    journal_tables   the tables of run.db, and how those of older versions become them
    coordinator      hands out shards, commits outcomes, stops tidily
    engines/         what carries out leases: this process, or its children
    lease_end        until when the workers of a coordinator that is gone may still send
    lease            what a worker is given and what it answers: plain, picklable values
    lost_shards      a shard that two workers died of: settled without them, and set aside
    work             one leased shard, chunk by chunk
    chunk_loader     one chunk: looks up, uploads, sends; or settles, and then sends
    cutting          a refused chunk, cut in halves; the entity to blame
    compose          a chunk's entities → the actions of one transaction
    contents         the uploads of a chunk: read, hashed, and made again when they are too old
    version_numbers  the numbers of copies, and of what is made again among what stands
    gate             the user's own check of each content, before its upload
    settling         what became of a chunk without an answer
    lookup           asks the archive what is there: anchors, source keys, ids
    finder           what a plan says is there already, by uuid
    governor         limits of rate
    stopping         a request to stop, and its reason
    clocks           steady clocks
    tables           the SQLite files of a run: opened, upgraded, changed

What comes after:

    next_step        what comes next in a run, and the command that does it
    options          the options of the journeys that read a source or load a run, each declared once
    request          how a run was asked for: its options, repeated by every later command
    approval         who approved the plan, and whether that still holds
    retraction/      takes what was made out of the archive again
    close            finalises what was made
    finality         the fields that finalise an object
    history          the change log of an extract, loaded with it
    follow           case files that an earlier run loaded, compared with what their source says now
    revisit          the changed documents of such records
    document_matching  which archived document a planned one is
    findings         what was found wrong in the archive, open until mended or accepted
    differences      what a verification found, remembered
    lost_objects     what the archive has lost of that which a retry asked for
    mending          what a retry asked for, mended, or why it stays
    load_proof       what a run says of the load behind a delivery, and how far it is proved
    attached         a plan with its journal beside it, for whoever reads both
    numbers          what became of every record, from plan and journal together
    delivery         delivery.db: which bundles a run was sealed in, and their receipts
    state            how a run is: its stage, and what is wrong with it; read once, asked by all
    verification/    proves a run from outside

The order that makes it safe: intent durable → look up → upload → send → outcome durable. A chunk without an answer is
in doubt; it is settled by asking after the archive's deadline, twice, and never sent again before that.
"""

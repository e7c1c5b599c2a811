"""The only doors to hostile input, to the disk and to other processes.

What others give us:

    paths          paths that a package, archive file or message names
    urls           addresses that a service, message or config names
    xml            XML as a tree; sax: as calls; growing: as a tree that is taken piece by piece
    xml_portions   XML in portions; plain_xml: texts of it that need no parser
    judge          XML of any size against a schema
    html           HTML as calls, whatever stands in it
    toml           TOML, bounded, with the line of each key
    unpack         zip and tar files; zipped: the entries of a zip, one by one
    archive_names  names in them that are not UTF-8
    tree           the files of a package, links never followed
    pdfa           whether a PDF is PDF/A: its claim, and a validator's verdict; pdfa_layers: of its layers
    pdfa_shadings  what PDF/A asks of colours that run into one another
    beneath        files below one folder, opened and made by name
    tls            whom a session trusts; certificates: when our own end
    connections    HTTP connections of the services that we run; serving: their server, which ends at once
    peers          the user at the other end of a connection on this machine
    secret_files   which files hold secrets of ours, and go nowhere

What we write:

    atomic         files and folders that appear whole or not at all
    digest         hashes while bytes pass; fixity: whether they are what was stated
    event_log      logs of events, written and read while they grow
    side_files     files beside a place, ours alone
    removal        files removed from one folder, never through a link
    signing        Ed25519 signatures; authority: certificates of one's own making
    csv_files      CSV in which a spreadsheet computes nothing
    xml_text       texts escaped for XML
    portable       names that every system can bear
    keys           the bytes of a path as text, and back

The machine:

    children       what child processes get from this one; limits: what they may use
    sandbox        programs on somebody else's document: walls, limits, no survivors
    process_tree   processes that tools leave behind
    worker_pool    functions in child processes, and the messages between; line_worker: programs of ours, asked by line
    ordered_work   pieces of work done by several of them, and the answers in order
    foreground     another command of ours, in front of this one
    errand         commands of others', run under limits; keeper: the process that watches over one of them
    commands       commands of the site's own: no shell, bounded in time, none of our secrets
    remote_jobs    the port of work that other machines do
    locks          locks that die with their process
    disk           a full disk told from other faults; errors of SQLite → faults
    scratch        tables on disk, gone with whoever holds them; workplace: folders of that kind
    spill          sets of keys that may be millions
    shared_connection  a database that several threads ask at once, each by statements of its own
    memory         how seldom cycles of objects are looked for
    processors     how many processors we may use; clocks: one that goes on while the machine sleeps, moments as text

What differs from system to system, with one door for each, so that no other module needs to know which one it runs on:

    descriptors    files by descriptor; folder_handles: folders that are held open, and what is in them
    signals        processes and the signals between them; owners: users and groups
    pipes          pipes of programs that are not waited for; sockets: what a socket tells beside its bytes
    windows        long paths, and files that are open elsewhere
"""

"""The reading room: pages on this machine that show a catalogue to the one who started them.

The pages are made on the server, from the catalogue alone; bytes of documents come from an origin of their own, and
nothing of a document ever becomes part of a page of ours.

    serve             serves a room until a signal ends it
    app               the ASGI application: reads requests, sends answers
    web               requests and answers as values
    gate              what a request must be before any page hears of it
    hosts             the names that an archive's room answers to
    session           the one-time link, sessions, and what was unmasked for them
    link_lobby        lets in who has the link; login_lobby: clients of an archive of ours
    room              answers each address with its page
    sections          what a place adds to that; place_sections: which ones it has
    plan_section      the plan of a run, to be approved; activity_section: what happens to a place
    links             the addresses of pages
    looks             the catalogue as pages see it: masked
    facts             the facts of each page
    tree              the way down to an item, with its siblings
    cards             the fields and links of an item in groups
    chain             the chain of custody of a file, and what follows from it
    tables            lists as CSV
    content           documents as the room shows them, and the origin of their bytes
    text_reading      reads the texts of documents for the search while the room is open
    viewers/          documents shown safely
    pages             makes pages of the templates
    phrasing          what pages say in one language
    static/           the same pages as plain files
"""

"""The client side of a Noark 5 archive service.

port            what any archive can do
values          actions, objects, pages, contents: what goes over the port
query           conditions that cannot be injected → Query
paging          all objects of a query, page by page
administration  code lists, business metadata, logs, bulk, full text, access control, over the port's `call`
registers       the values of those
http            the archive on the wire: one session of one process
answers         answers and broken exchanges → faults
token           client credentials
transport       connections, and the watch over bytes that stop moving
trust           TLS: whom we trust, and why not
transfer        bytes up and down, hashed while they pass
retry · dryrun  wrappers of the port's shape
"""

"""The client side of a Noark 5 archive service.

port            what any archive can do
values          actions, objects, pages, contents: what goes over the port
query           conditions that cannot be injected → Query
paging          all objects of a query, page by page
administration  code lists, business metadata, logs, bulk, full text, access control, over the port's `call`
registers       the values of those
optional        what no archive need answer: newer types, fields and calls
settings        how an archive is reached, checked before anything is sent
http            the archive over HTTP: one session of one process
wire            values of the port ↔ JSON; register_wire: those of the administrative calls
answers         answers and broken exchanges → faults
token           client credentials
transport       connections kept and shared; a transport of httpx
connection      one HTTP/1.1 connection; stream: its socket, and the watch over bytes that stop moving
transfer        bytes up and down, hashed while they pass
retry · dryrun  wrappers of the port's shape
"""

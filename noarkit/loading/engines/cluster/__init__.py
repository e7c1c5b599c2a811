"""Loads with workers on many machines, over Dask distributed: dispatch and TLS are its work, what is true stays ours.

dask        the engine: gives leases to workers, renews them, passes their outcomes on
roster      which workers are there, and which of them may be given a lease
shares      one governor for all: shares of the rate, halved while the archive is busy
scheduler   the process that coordinator and workers meet at
worker      one worker: carries out leases, stops where it is not renewed
slots       the processes of a machine's workers
site        what a worker has on its own machine: the plan, the source, its account at the archive
shipping    bytes that a worker does not have: the plan, and contents where it is so wished
fence       nothing leaves after the end of a lease
jobs        heavy work that only reads: jobs on the same workers; job_desk: their side; plain: what goes over the wire
messages    what goes over the wire: plain values as JSON
connection  a client's connection to the scheduler, which is held to our version and to giving nothing out again
handshake   why the scheduler cannot be reached
listening   why nobody can listen at an address
tls         certificates: all of them are demanded, both ways
library     the library, set up so that it decides nothing by itself
"""

"""Servers of the four services, written from the published documents alone, as strict as those let them be.

They share no code with noarkit. The calls, their parameters and the members of their answers are read from the
published tables; what a table cannot say (how far pages reach, when a token ends, who is let in) is written out here.
A server remembers each request that breaks what is published, and each answer of its own that does: a test ends with
neither. Things change while a test runs: it edits, deletes, hides, restores and adds late, in the server's own data.

tables    the published calls and schemas; judges requests and answers, and fills an answer with what it must have
serving   requests, replies, rates and troubles; a server on a real socket
content   what an archive holds, to be compared with what a service holds
crm*      the CRM: its data, its calls, its queries, and what an archive must hold of it
spend*    the spend service: its data, its calls, and what an archive must hold of it
appsec*   the security service: its main calls, and what an archive must hold of it
features* the feature service: its main calls, and what an archive must hold of it
"""

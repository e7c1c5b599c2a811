"""Random histories of the services, played while noarkit reads them, and an oracle that reads neither its client nor
its plans: it looks into the data of the stand-in and into the tables of the archive.

facts     what an oracle knows of a service at a moment
archived  what the archive holds, read from its tables
oracle    what must be archived, and what must be reported
promises  what a verification says of the next plan, held against that plan
world     a history that is played while runs go on
crm …     what each service holds
sweep     many seeds, as `scripts/faults histories` plays them
"""

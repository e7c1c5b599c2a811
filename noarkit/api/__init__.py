"""The public functions behind `import noarkit`: one module for each journey. They print nothing and never exit.

origins       opens the source that a user names
source_reading  reads a source as the options of a caller say
destination   the archive that a run goes to, and how it is opened
scanning      counts what a source holds
planning      makes and freezes a plan
deriving      makes archival copies of documents, accepts and checks them
adding        makes copies of documents in an archive, and plans them beside their originals
estimating    estimates the load of a planned run
approving     writes down that a person approves a plan
loaded_before  asks an archive whether it holds the same from another root
ingesting     loads a plan, and goes on with it
merging       joins the journals of parts of a run that machines loaded side by side
clustering    lends a machine to runs that many machines load
retrying      loads what was left out
retracting    takes what a run made out of the archive again
closing       finalises what a run made
verifying     verifies a run, and writes the certificate
browsing      opens the catalogue of a place of any kind
looking       looks into a place: lists, cards, documents
searching     searches a place, and reads its documents for that
finding_persons  finds where a person occurs, for a request of access
removing      removes the local data of proven runs
administering  code lists and access groups of an archive
status        the numbers of a run as they are now
reporting     writes reports and lists again
writing_back  writes the archive's ids back into the service that a run was made of
keys          the keys of seals
safekeeping   backs up an archive of one's own, and checks it
bundles       packs a run for an air gap, receives it, acknowledges it, accepts changes, checks the receipt
validating    validates a package, on this machine or with a cluster
heavy_jobs    what workers of a cluster do besides loading
extracting    extracts a package from an archive
converting    makes a package of a folder or another package
comparing     compares two extracts, or an extract and an archive
archive       asks an archive for its objects, files and codes
"""

"""The public functions behind `import noarkit`: one module for each journey. They print nothing and never exit.

origins       opens the source that a user names
destination   the archive that a run goes to, and how it is opened
scanning      counts what a source holds
planning      makes and freezes a plan
deriving      makes archival copies of documents, accepts and checks them
adding        makes copies of documents in an archive, and plans them beside their originals
ingesting     loads a plan, and goes on with it
retrying      loads what was left out
closing       finalises what a run made
verifying     verifies a run, and writes the certificate
status        the numbers of a run as they are now
reporting     writes reports and lists again
writing_back  writes the archive's ids back into the service that a run was made of
bundles       packs a run for an air gap, receives it, acknowledges it, checks the receipt
extracting    extracts a package from an archive
converting    makes a package of a folder or another package
comparing     compares two extracts, or an extract and an archive
archive       asks an archive for its objects, files and codes
"""

"""Validates E-ARK packages: every rule of CSIP, SIP, AIP and DIP by its own id, and nothing is ever changed.

    run           one package from first to last
    header        root element and header (CSIP 1 to 16, 117), and the rules of each kind of package
    judge         sections, file section and groups of one METS document, while it is read
    files         references to files and metadata
    structure     the structural map
    folders       which folders there are, and names (CSIPSTR)
    premis        PREMIS documents
    fixity        sizes and checksums of the files themselves
    media         media types
    codes         ids that are computed, and rules that a representation need not keep
    second        a second opinion by a validator that the user names

What these stand on:

    places        references → files
    inventory     what is listed and what is there, in a database
    schemas       the schemas for METS and PREMIS
    finding_sink  findings with document and line
"""

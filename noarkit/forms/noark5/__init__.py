"""The Noark 5 extract as a package: its files, its XML and its schemas, for versions 3.1, 4.0 and 5.0."""

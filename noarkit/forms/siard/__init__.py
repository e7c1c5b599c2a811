"""SIARD: relational databases kept as XML in a ZIP. Written in 2.1 and 2.2, read from 1.0 on."""

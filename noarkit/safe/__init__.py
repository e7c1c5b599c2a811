"""The only doors to hostile input and to disk: paths, unpack, xml, urls, atomic and digest."""

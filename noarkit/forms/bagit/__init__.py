"""BagIt: bags of 0.93 to 1.0 read, of 1.0 written, as a folder, zip or tar."""

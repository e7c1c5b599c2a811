"""DIAS packages: a tar and the submission description beside it, as Norwegian archives deliver and keep them."""

"""The rules of DIAS packages, and what holds a package to them."""

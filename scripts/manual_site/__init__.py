"""The manual as a searchable site: html writes blocks, pages the files of the site."""

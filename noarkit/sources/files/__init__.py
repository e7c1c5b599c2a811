"""File trees as a source: every readable file a record, whatever its name; registers beside them; mail.

source    a tree or a single file as a source
policy    what is taken, and the notes on what is taken
walk      the tree, folder by folder            file_filter  whether a file is taken
name_patterns  patterns of names, as people write them, that say which files are taken
folders   opening without following links       streams  the bytes of a content, watched for change
names     bytes of names, keys, readable texts  records  what recipes see
levels    at which level of folders case files lie
default   the recipe of a source of plain files

inspection   looks into files in processes of their own, beside the making of records
inspector    looks into files, with the help of these:
puids        PRONOM identifiers
conditions   passwords, ends that are missing
codecs       the codec of a video, by its own bytes
owners       whose mails they are
tree_times   days in which files were copied rather than written, and how old each folder is
case_names   case numbers in the names of folders
property_numbers  numbers of properties in names and cells
mail_filing  mails outside the case files, by the case number in their subject
dates        which day a file is of, by what speaks for it

register     tables beside the files that say more of them
"""

"""Every sentence a user can see, in English and Norwegian, by code and key.

    texts         reads the sentences of a language, and fills them
    messages      what the system and libraries say, by the key of its sentence
    labels        what fields are called in plain words
    not_compared  rows of a verification as sentences

The files are `en.toml` and `nb.toml`; `en-TOPIC.toml` and `nb-TOPIC.toml` go with them. `nn-TOPIC.toml` is Nynorsk,
laid over Bokmål: it has what leaves the house, and Bokmål says the rest.
"""

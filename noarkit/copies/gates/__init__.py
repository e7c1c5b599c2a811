"""Gates: what a file must pass before it is a copy. Each judges one thing, and lets nothing pass that it cannot judge.

registry  the gates of a task, cheapest first
text      every character of the document, in UTF-8
"""

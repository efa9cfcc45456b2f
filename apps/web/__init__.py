"""The review app: people watch a library grow, look at the evidence, decide and annotate, in a browser.

Pages are made on the server; HTMX and a small script of ours (both in `static/`) make them quicker to use, and
nothing is fetched from anywhere else. What is shown comes from the store; what people decide becomes library events
and annotations, as on the command line.
"""

"""Trust on first use: compare what a server offers with what was approved here earlier.

The offer of a server is its tools and instructions. `approvals` keeps the approved offers, `trust`
compares one session with its approval, and `warnings` points out hidden characters, and names of
other servers' tools, in a server's texts.
"""

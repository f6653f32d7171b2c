"""Ask before a server is used for the first time, and again after it has changed.

`trust` compares what a server offers (tools and instructions) with what was approved, which
`approvals` keeps. It also points out invisible characters in a server's strings. `configurations`
asks before the servers of a file are started.
"""

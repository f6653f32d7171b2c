"""Ask before a server is used for the first time, and again after it has changed.

`trust` compares the tools and instructions of a server with the approved ones, which `approvals`
stores. It also finds invisible characters in the texts of a server. `configurations` asks before
the servers of a configuration file are connected.
"""

"""Ask before a server is used for the first time, and before it is used after it changed.

`trust` compares what a server offers (tools and instructions) with what was approved here, which
`approvals` keeps, and points out characters in a server's texts that a person does not see.
`configurations` asks before the servers of a file start.
"""

"""Trust on first use: compare a server with the offer that was approved here earlier.

`approvals` keeps the approved offers, `trust` compares one session with its approval, and
`warnings` points out hidden characters and orders to a model in a server's texts.
"""

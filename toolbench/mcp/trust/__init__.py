"""Trust on first use: whether a server still says what it said when it was approved here.

`approvals` keeps what was approved, `trust` compares one session with it, `warnings` points out
what in a server's words is hidden, or speaks to the model.
"""

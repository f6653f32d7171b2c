"""Save what a server offers, and explain later changes.

Start with `snapshot.Snapshot`. `diff.changes_between` compares two snapshots.
`schema_diff.differences` compares two JSON Schemas by trying the values of `samples`.
`check_calls.check_calls` checks earlier calls against a snapshot. `page` shows changes as HTML.
"""

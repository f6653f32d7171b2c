"""Save the tools, resources and prompts of a server, and explain later changes to them.

Start with `snapshot.Snapshot`. `diff.changes_between` compares two snapshots.
`schema_diff.differences` compares two JSON Schemas by trying the values of `samples`.
`check_calls.check_calls` checks earlier calls against a snapshot. `page` shows changes as HTML.
"""

"""Keep in a file what a server offers, and explain how this changed later.

Start with `snapshot.Snapshot`. `diff.changes_between` compares two snapshots,
`schema_diff.differences` two JSON Schemas, with the values of `samples`, and
`check_calls.check_calls` checks recorded calls against a snapshot. `page` shows changes as HTML.
"""

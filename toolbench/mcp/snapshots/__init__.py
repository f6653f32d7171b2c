"""Keep the offer of a server in a file, and explain later changes.

Start with `snapshot.Snapshot`. `diff.changes_between` compares two snapshots,
`schema_diff.comparison.compare` compares two JSON Schemas, and `recorded_calls.check_calls`
checks recorded calls against a snapshot.
"""

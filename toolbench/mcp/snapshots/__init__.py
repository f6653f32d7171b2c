"""Keep in a file what a server offers, and explain how this changed later.

Start with `snapshot.Snapshot`. `diff.changes_between` compares two snapshots,
`schema_diff.comparison.compare` compares two JSON Schemas, and `check_calls.check_calls` checks
recorded calls against a snapshot.
"""

"""A server over time: what it offered, written to a file; what changed, and what that means.

Start with `snapshot.Snapshot`. `diff.changes_between` compares what two snapshots offer,
`schema_diff.comparison.compare` two JSON Schemas; `recorded_calls.check_calls` holds recorded calls against a snapshot.
"""

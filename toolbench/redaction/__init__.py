"""The one home of secrets: their names, where they stand, and how they are hidden."""

MARK = "<secret-hidden>"
"""Stands where a secret stood. Source: OpenHands SDK, the output of its terminal tool.

It is plain ASCII, so it survives every encoding, can be searched for, and is no value that people type.
"""

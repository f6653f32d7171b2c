"""Secrets: their names, their places in values and text, and how they are hidden."""

MARK = "<secret-hidden>"
"""The mark in place of a secret. Source: OpenHands SDK, the output of its terminal tool.

It is plain ASCII, so it survives every encoding and can be searched for; people do not type it.
"""

"""Secrets: how they are found by their names and places, found again in other texts, and hidden."""

MARK = "<secret-hidden>"
"""The mark in place of a secret. Source: OpenHands SDK, the output of its terminal tool.

The mark is plain ASCII, so every encoding keeps it and it can be searched for. People do not type
it.
"""

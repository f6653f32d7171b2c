"""Schemas composed of others: merge two, fold alternatives, copy definitions into place."""

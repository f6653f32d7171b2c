"""Schemas that are put together from others: two made one, alternatives folded, references written out."""

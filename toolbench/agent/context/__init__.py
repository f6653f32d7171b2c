"""The conversation as messages for a model: in its provider's format, condensed, secrets hidden."""

"""The messages for the model: turns, condensed, in its dialect, with secrets hidden."""

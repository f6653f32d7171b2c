"""What the model is sent: the turns, condensed, in its dialect, and without secrets."""

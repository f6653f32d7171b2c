"""Parts that all views share: widget factories, lists to search, timers, saved output."""

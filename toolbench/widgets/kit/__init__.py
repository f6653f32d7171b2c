"""Parts that all views share: widget factories, searchable lists, timers, saved output."""

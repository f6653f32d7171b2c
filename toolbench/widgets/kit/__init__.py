"""What every view is made from: widgets kept for reuse, lists to search, timers, saved output."""

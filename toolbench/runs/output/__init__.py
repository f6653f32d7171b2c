"""What a run prints, displays and raises, caught where it happens."""

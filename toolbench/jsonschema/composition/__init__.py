"""Make one schema of several: merge two, simplify alternatives, copy definitions into place."""

"""Make one schema of several: merge two, fold alternatives, copy definitions into place."""

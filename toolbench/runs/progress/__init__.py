"""How far a run is, and the line of a cell that says so."""

"""End the programs that this process started after the process itself is gone."""

"""After this process has ended, end the programs that it started."""

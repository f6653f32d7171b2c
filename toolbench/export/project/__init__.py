"""Write the files of an exported package: its modules, its tests and its project files."""

"""Write the code of one tool for a package: its classes, and the executor that does its work."""

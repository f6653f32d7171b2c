"""Write the code of one tool for a package: the classes of its definition, and its executor."""

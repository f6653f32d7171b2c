"""Write the code of one tool for a package: classes for its definition, an executor for its work."""

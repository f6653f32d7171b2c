"""The code of one tool in a package: classes for its definition, an executor for its work."""

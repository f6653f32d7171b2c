"""The files of a package."""

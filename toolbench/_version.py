"""The version of this package, for whatever needs it without the package's public names."""

__version__ = "0.1.0"

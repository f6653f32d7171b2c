"""What glob and grep share: patterns for paths, and the search itself."""

"""Records of the session's runs: keep them in memory or on disk, and run them again."""

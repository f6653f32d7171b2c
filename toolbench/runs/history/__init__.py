"""Every run of the session as a record: kept in memory, on disk, and run again."""

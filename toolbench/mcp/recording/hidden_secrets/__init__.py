"""What keeps secrets out of a recording: by where they stand, whole, and spread over several texts."""

"""What becomes of programs that this process started, once it is gone."""

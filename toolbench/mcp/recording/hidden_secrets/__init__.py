"""Keep secrets out of a recording: whole secrets, and secrets spread over several texts."""

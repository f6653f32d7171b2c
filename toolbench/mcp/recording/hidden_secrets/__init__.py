"""Keep secrets out of a recording: whole ones, and ones spread over several texts."""

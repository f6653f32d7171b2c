"""The answers of an evaluation: what runs, what fails, and what is spent."""

"""A form for the cases of an evaluation, and a report in which a person can open each failure."""

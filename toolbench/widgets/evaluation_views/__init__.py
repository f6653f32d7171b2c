"""A form for cases, and reports of evaluations in which failures open as panels."""

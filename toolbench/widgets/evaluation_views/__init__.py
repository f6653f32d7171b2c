"""A form for cases, and reports of evaluations whose failures can be opened as panels."""

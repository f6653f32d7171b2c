"""Reports of evaluations: rates with intervals, confusion, comparison, pages and JUnit."""

"""Choose the files to search: glob patterns, .gitignore rules, the walk through directories."""

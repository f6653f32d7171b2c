"""Which files a search looks at: glob patterns, .gitignore rules, the walk through directories."""

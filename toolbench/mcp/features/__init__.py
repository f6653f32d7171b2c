"""The features of a server: lists that are kept up to date, and requests such as completions."""

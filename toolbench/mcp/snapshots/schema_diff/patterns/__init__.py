"""Compare regular expressions of schemas by the texts that they match."""

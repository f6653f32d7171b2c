"""Regular expressions of schemas, compared by the texts they match."""

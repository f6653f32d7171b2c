"""The tools, resources, prompts and completions of a server, as lists kept up to date."""

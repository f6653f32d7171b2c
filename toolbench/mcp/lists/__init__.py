"""The lists of a server: tools, resources, prompts and skills, kept up to date."""

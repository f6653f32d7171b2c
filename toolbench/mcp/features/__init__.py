"""What a server offers: its tools, resources, prompts and completions, as lists that follow it."""

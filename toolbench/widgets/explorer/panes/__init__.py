"""The panes of a server: tools, resources, prompts, log, recording and changes."""

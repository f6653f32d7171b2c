"""The panes of a server: tools, resources, prompts, skills, log, recording and changes."""

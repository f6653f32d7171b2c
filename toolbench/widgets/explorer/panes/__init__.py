"""What one server offers and says: a pane for its tools, resources, prompts, logs and traffic."""

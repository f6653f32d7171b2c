"""Base classes of tools, actions and observations; `runs` runs the tools, `display` shows them."""

"""The classes and schemas of which tools are made; `runs` runs the tools, `display` shows them."""

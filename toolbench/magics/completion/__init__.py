"""Tab in a line or a body: names of tools, arguments, their values, servers."""

"""Find, read and safely write files, for the tools that edit files."""

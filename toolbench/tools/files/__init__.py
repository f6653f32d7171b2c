"""Files on disk, as the tools that edit them need them: found, read as text, written safely."""

"""The notebooks in real front ends, driven through a real browser."""

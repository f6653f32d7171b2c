"""A model in a file, run by llama.cpp in a separate process."""

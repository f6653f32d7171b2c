"""A model in a file, answered for by llama.cpp in a process of its own."""

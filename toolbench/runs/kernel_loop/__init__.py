"""Use the kernel's loop instead of threads, on a Python without threads."""

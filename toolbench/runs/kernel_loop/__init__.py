"""Use the kernel's event loop instead of threads, on a Python without threads."""

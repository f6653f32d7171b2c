"""Stop a run: its token, the interrupt of the kernel, its threads and processes."""

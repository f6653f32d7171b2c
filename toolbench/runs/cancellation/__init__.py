"""How a run is stopped: its token, the interrupt of the kernel, its threads and processes."""

"""What the kernel's loop does instead of threads, where there are none."""

"""Programs that this process starts end with it, even if it is killed: `guard` and its `watch`."""

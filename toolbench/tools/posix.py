"""Modules that only POSIX has. Elsewhere each is None, so tools that need none still work."""

try:
    import fcntl as fcntl
    import termios as termios
except ModuleNotFoundError:
    # Windows
    fcntl = None  # type: ignore[assignment]
    termios = None  # type: ignore[assignment]
if not hasattr(fcntl, "flock"):
    # A page's Python has the module, and none of its locks
    fcntl = None  # type: ignore[assignment]

"""Python's modules for POSIX systems; None on other systems, so that imports do not fail there."""

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

"""Bodies that are small on the wire, and 1 GB when they are decompressed."""

import zlib
from functools import cache

# Bytes
_PIECE = 1 << 20
_WINDOWS = {"gzip": 31, "deflate": 15}


@cache
def bomb(encoding: str = "gzip", head: bytes = b'{"jsonrpc":"2.0","id":1,"result":{"x":"') -> bytes:
    """Return about 1 MB that begin with *head* and go on with 1 GB of one letter."""
    packer = zlib.compressobj(9, zlib.DEFLATED, _WINDOWS[encoding])
    pieces = [packer.compress(head)]
    pieces += [packer.compress(b"a" * _PIECE) for _ in range(1_000)]
    return b"".join([*pieces, packer.flush()])

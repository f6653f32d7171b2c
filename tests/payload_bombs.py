"""Bodies that are small on the wire, and 1 GB when they are decompressed."""

import zlib
from functools import cache

# Bytes
_PIECE = 1 << 20
_WINDOWS = {"gzip": 31, "deflate": 15}


@cache
def bomb(encoding: str = "gzip", head: bytes = b'{"jsonrpc":"2.0","id":1,"result":{"x":"') -> bytes:
    """Return about 1 MB that begin with *head* and go on with 1 GB of one letter.

    The end with its check sum is missing: nobody may read so far.
    """
    packer = zlib.compressobj(9, zlib.DEFLATED, _WINDOWS[encoding])
    begin = packer.compress(head) + packer.flush(zlib.Z_FULL_FLUSH)
    # After such a flush equal pieces are packed alike, so that one stands for all
    piece = packer.compress(b"a" * _PIECE) + packer.flush(zlib.Z_FULL_FLUSH)
    return begin + 1_000 * piece

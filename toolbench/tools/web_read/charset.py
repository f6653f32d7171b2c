"""Decode the bytes of a page; the encoding comes from the bytes, the server or the page."""

import codecs
import re

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_META = re.compile(rb"<meta[^>]+?charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_XML = re.compile(rb"<\?xml[^>]+?encoding\s*=\s*[\"']([\w.:-]+)", re.IGNORECASE)
_LOOK = 2048  # bytes in which a page declares its encoding


def decode(data: bytes, declared: str | None) -> str:
    """Return *data* as text.

    The encoding is the one of a byte order mark, or else the one that the server *declared*, or else
    the one in the page, or else UTF-8. Other bytes are read as Windows-1252, as browsers do.
    """
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return data.decode(encoding, "replace")
    for name in (declared, _declared_in(_META, data), _declared_in(_XML, data)):
        if name and (known := _known(name)):
            return data.decode(known, "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data":  # cut off in the middle
            return data.decode("utf-8", "ignore")
        return data.decode("cp1252", "replace")


def _declared_in(pattern: re.Pattern[bytes], data: bytes) -> str | None:
    match = pattern.search(data[:_LOOK])
    return match[1].decode("ascii") if match else None


def _known(name: str) -> str | None:
    """Return the codec that *name* means on the web; None if it is not a codec for text."""
    name = name.strip("\"' ").lower()
    if name in ("iso-8859-1", "latin-1", "latin1", "us-ascii", "ascii"):
        return "cp1252"  # pages with this declaration really use it
    try:
        info = codecs.lookup(name)
    except (LookupError, ValueError):
        return None
    return info.name if getattr(info, "_is_text_encoding", True) else None

"""Decode a page. Its byte order mark, its server or the page itself declares the encoding."""

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
# Bytes at the start of a page that are searched for its encoding
_LOOK = 2048


def decode(data: bytes, declared: str | None) -> str:
    """Return *data* as text.

    A byte order mark decides the encoding. Without a mark, it is the encoding that the server
    declares (*declared*), or else the encoding that the page itself declares. If neither is known,
    the encoding is UTF-8, or Windows-1252 if *data* is not valid UTF-8.
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
        # Cut off in the middle
        if error.reason == "unexpected end of data":
            return data.decode("utf-8", "ignore")
        return data.decode("cp1252", "replace")


def _declared_in(pattern: re.Pattern[bytes], data: bytes) -> str | None:
    match = pattern.search(data[:_LOOK])
    if match:
        return match[1].decode("ascii")
    return None


def _known(name: str) -> str | None:
    """Return Python's codec for *name*, the encoding of a web page; None if there is none."""
    name = name.strip("\"' ").lower()
    if name in ("iso-8859-1", "latin-1", "latin1", "us-ascii", "ascii"):
        # Pages with this declaration really use it
        return "cp1252"
    try:
        info = codecs.lookup(name)
    except (LookupError, ValueError):
        return None
    if getattr(info, "_is_text_encoding", True):
        return info.name
    return None

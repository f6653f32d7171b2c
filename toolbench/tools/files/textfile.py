"""Decode a file to edit its text, and encode the text without changing other bytes."""

import codecs
import re
from dataclasses import dataclass

from toolbench.tools.failure_sentence import RunError

# UTF-32 first: its mark begins with the mark of UTF-16
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_ASCII = "".join(map(chr, range(128)))
# Bytes used to guess an encoding
_SAMPLE = 64 * 1024
# Words with accents: fewer are not enough to guess the language
_FEW = 30
_HIGH = re.compile(rb"[\x80-\xff]+")
_UNDECODABLE = re.compile("[\udc80-\udcff]")
_FOREIGN = re.compile("[^\0-\x7f\udc80-\udcff]")


class BinaryError(ValueError):
    """The bytes are not text."""


@dataclass(frozen=True, slots=True)
class TextFile:
    """The text of a file, and its encoding, in which a changed text is written to the file."""

    text: str = ""
    encoding: str = "utf-8"
    bom: bytes = b""
    errors: str = "strict"

    @property
    def newline(self) -> str:
        r"""The line end of the file: `\r\n` if all line ends are `\r\n`, else `\n`."""
        # Much faster than counting
        if "\r" not in self.text:
            return "\n"
        crlf = self.text.count("\r\n")
        if crlf and crlf == self.text.count("\n"):
            return "\r\n"
        return "\n"

    @property
    def traits(self) -> str:
        """The file's unusual properties, as the end of a sentence: `, cp1252, CRLF line ends`."""
        unusual = [] if self.encoding == "utf-8" else [self.encoding]
        unusual += ["byte order mark"] * bool(self.bom)
        unusual += ["some bytes are not UTF-8"] * (self.errors != "strict")
        unusual += ["CRLF line ends"] * (self.newline == "\r\n")
        return "".join(f", {trait}" for trait in unusual)

    def encode(self, text: str) -> bytes:
        """Return the bytes of *text* in the encoding of this file.

        Raises:
            RunError: If *text* has a character that the encoding does not have.
        """
        try:
            return self.bom + text.encode(self.encoding, self.errors)
        except UnicodeEncodeError as error:
            character = text[error.start]
            msg = (
                f"The file is written in {self.encoding}, which has no {character!a}; nothing "
                "was changed. Use other characters, or convert the file to UTF-8 first."
            )
            raise RunError(msg) from None


def decode(data: bytes) -> TextFile:
    """Decode *data*, the content of a file.

    A byte order mark decides the encoding. Without a mark, the encoding is UTF-8 if *data* is valid
    UTF-8. Otherwise, it is guessed. The result can `encode` its text to the same bytes again.

    Raises:
        BinaryError: If *data* is not text.
    """
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return _marked(data, bom, encoding)
    if b"\0" in data:
        raise BinaryError
    try:
        return TextFile(data.decode())
    except UnicodeDecodeError:
        return _guessed(data)


def _marked(data: bytes, bom: bytes, encoding: str) -> TextFile:
    try:
        return TextFile(data[len(bom) :].decode(encoding), encoding, bom)
    except UnicodeDecodeError:
        raise BinaryError from None


def _guessed(data: bytes) -> TextFile:
    damaged = data.decode(errors="surrogateescape")
    if len(_FOREIGN.findall(damaged)) > len(_UNDECODABLE.findall(damaged)):
        return TextFile(damaged, errors="surrogateescape")
    encoding = _guess(data)
    try:
        text = data.decode(encoding)
        if text.encode(encoding) == data:
            return TextFile(text, encoding)
    except UnicodeError:
        pass
    return TextFile(data.decode("latin-1"), "latin-1")


def _guess(data: bytes) -> str:
    """Return the likeliest encoding of *data*.

    If the likeliest encoding does not write ASCII characters as ASCII bytes, return latin-1.
    """
    from charset_normalizer import (  # noqa: PLC0415 - slow to import, seldom needed
        from_bytes,
    )
    from charset_normalizer.utils import (  # noqa: PLC0415 - the same
        is_multi_byte_encoding,
    )

    best = from_bytes(data[:_SAMPLE]).best()
    likely = "latin-1" if best is None else best.encoding
    if not is_multi_byte_encoding(likely) and _is_sprinkled(data[:_SAMPLE]):
        # Too few accents for a guess: take the most common
        return "cp1252"
    contains_ascii = _ASCII.encode(likely, "replace") == _ASCII.encode()
    # Few bytes may look like UTF-16
    if contains_ascii:
        return likely
    return "latin-1"


def _is_sprinkled(data: bytes) -> bool:
    """Tell whether *data* is ASCII except for a few bytes, at most two of them in a row."""
    runs = _HIGH.findall(data)
    return len(runs) < _FEW and max(map(len, runs), default=0) <= 2

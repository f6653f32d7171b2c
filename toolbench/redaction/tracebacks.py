"""Hide secrets in a traceback of IPython, which has colours and cuts long values."""

import re

from toolbench.redaction.matching.cut_secrets import CUTS
from toolbench.redaction.matching.noise import masked
from toolbench.redaction.redactor import Redactor

_COLOUR = re.compile(rb"(\x1b\[[0-9;]*[A-Za-z])")


def hidden_in_traceback(redactor: Redactor, text: str) -> str:
    """Return *text*, a part of a traceback, with every secret replaced; colours stay.

    A secret is found even if colours change inside it. A beginning or end of a secret next to an
    ellipsis is found too.
    """
    pieces = _COLOUR.split(text.encode(errors="surrogatepass"))
    spans = redactor.spans(b"".join(pieces[::2]), cuts=CUTS)
    if not spans:
        return text
    return masked(pieces, spans).decode(errors="surrogatepass")

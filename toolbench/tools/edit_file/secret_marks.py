"""Replace the secrets in a text by marks before a model gets it, and put the secrets back later."""

from toolbench.redaction import MARK
from toolbench.redaction.known import Secrets
from toolbench.redaction.redactor import NO_SECRETS
from toolbench.tools.failure_sentence import RunError


class SecretMarks:
    """The marks for the secrets in one text; each secret has its own mark."""

    def __init__(self, secrets: Secrets | None, text: str) -> None:
        """Make a mark for each of *secrets* that occurs in *text*, also in an encoded form."""
        self._redactor = NO_SECRETS if secrets is None else secrets.redactor
        data = text.encode(errors=_ANY)
        spans = self._redactor.spans(data)
        unique = dict.fromkeys(data[start:end] for start, end in spans)
        known = [secret.decode(errors=_ANY) for secret in unique]
        is_only = len(known) == 1 and MARK not in text
        self._marks = {secret: _mark(n, is_only=is_only) for n, secret in enumerate(known, 1)}
        self._before = text

    def put_in(self, text: str) -> str:
        """Return *text* with a mark in place of each secret."""
        for secret in sorted(self._marks, key=len, reverse=True):
            text = text.replace(secret, self._marks[secret])
        return self._redactor.text(text)

    def taken_out(self, text: str) -> str:
        """Return *text* with the secrets back in place of their marks.

        Raises:
            RunError: If *text* has a mark that does not belong to a known secret.
        """
        for secret, mark in self._marks.items():
            text = text.replace(mark, secret)
        if text.count(_STEM) > self._before.count(_STEM):
            msg = (
                f"The edit has {MARK}, and it is not known which secret this means; nothing was "
                "edited. Edit lines without a secret."
            )
            raise RunError(msg)
        return text


def _mark(number: int, *, is_only: bool) -> str:
    if is_only:
        return MARK
    return f"{_STEM}-{number}>"


_STEM = MARK.removesuffix(">")
_ANY = "surrogatepass"

"""The editor of any value as JSON text, which is used if no other editor fits."""

import json
import re
from collections.abc import Iterable
from typing import Any

from ipywidgets import Textarea

from toolbench.redaction.detect import Secrecy, SecretsByPath, put_back, texts
from toolbench.values import each_once
from toolbench.widgets.fields.editor import UNSET
from toolbench.widgets.fields.text_box import TextBox, UnreadableError, as_read

_HIDDEN = re.compile(
    "[\x7f-\x9f\u061c\u200b-\u200f\u2028\u2029\u202a-\u202e\u2060-\u2069\ufeff"
    "\ufffe\uffff\ud800-\udfff]"
)


def to_text(value: Any) -> str:
    """Write *value* as indented JSON with every invisible character escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)
    return _HIDDEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def from_text(text: str) -> Any:
    """Return the value of *text*, which is JSON that the user has typed.

    Raises:
        UnreadableError: If *text* is not JSON, or if an object in it contains the same key twice.
    """
    try:
        return json.loads(text, object_pairs_hook=each_once, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        msg = f"Not JSON yet: {error.msg} (line {error.lineno}, column {error.colno})."
        raise UnreadableError(msg) from None
    except (RecursionError, ValueError) as error:
        if isinstance(error, UnreadableError):
            raise
        msg = f"Not readable as JSON: {error}."
        raise UnreadableError(msg) from None


def _refuse(name: str) -> Any:
    msg = f"{name} is not JSON."
    raise UnreadableError(msg)


class Raw(TextBox):
    """A text box in which the user edits a value as JSON."""

    kind = Textarea
    classes = ("tb-field", "tb-area", "tb-json")
    owns_null = True
    nothing = "JSON"

    def __init__(self, slot: Any) -> None:
        super().__init__(slot)
        self._secrets: SecretsByPath = {}
        self._unwritable: list[Any] = []

    def parse(self, text: str) -> Any:
        """Return the value of the JSON *text*, after putting the hidden secrets back into it."""
        if self._unwritable:
            return self._unwritable[0]
        return put_back(from_text(text), self._secrets)

    def render(self, value: Any) -> str | None:
        """Return *value* as JSON text with its secrets hidden; "…" if it has no JSON form."""
        self._unwritable = []
        try:
            # It may contain text boxes of an earlier form
            masked, self._secrets = self._mask(as_read(value))
            return to_text(masked)
        except (TypeError, ValueError, RecursionError):
            # Not JSON, or too deep
            self._unwritable = [value]
            return "…"

    def typed(self) -> Any:
        """Return the value, or this box if its text cannot be read."""
        if self.trouble:
            return self
        return self.read()

    def take(self, other: TextBox) -> None:
        """Take the text of *other*, and the secrets that the text hides."""
        super().take(other)
        if isinstance(other, Raw):
            self._secrets, self._unwritable = other._secrets, other._unwritable

    def _typed(self) -> None:
        super()._typed()
        self._unwritable = []
        if not self.text.strip():
            self.text = ""

    def secrets(self) -> Iterable[str]:
        """Return the values inside that are secret by the schema or by the names of their keys."""
        return tuple(texts(list(self._mask(self.read())[1].values())))

    def masked(self) -> Any:
        """Return the value with its secrets hidden."""
        return self._mask(self.read())[0]

    def _mask(self, value: Any) -> tuple[Any, SecretsByPath]:
        if value is UNSET:
            return UNSET, {}
        secrecy = Secrecy(self.node.schema, self.frame.view)
        return secrecy.mask(value, self.slot.name)

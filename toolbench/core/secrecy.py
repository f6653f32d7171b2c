"""Which arguments are secrets, and how they look when written down."""

import re
from collections.abc import Mapping
from typing import Any

HIDDEN = "••••••"

_NAMES = re.compile(
    r"(^|_)(password|passwd|passphrase|secret|token|"
    r"(api|access|private|secret|signing|encryption)_?key|credentials?|authorization)$",
    re.IGNORECASE,
)
# where a listing goes on, and what stands in a text
_NO_SECRETS = re.compile(
    r"(^|_)(next|previous|prev|page|pagination|continuation|continue|cursor|resume|sync|"
    r"start|end|first|last|stop|bos|eos|pad|sep|cls|mask|unk)_token$",
    re.IGNORECASE,
)


def is_secret(name: str, schema: Any) -> bool:
    """Tell whether the property *name* with *schema* holds a secret, by what either says.

    `format: password` and `writeOnly` say so, and names such as `api_key` or `githubToken`
    do when they hold text.
    """
    if isinstance(schema, Mapping):
        if schema.get("format") == "password" or schema.get("writeOnly") is True:
            return True
        kinds = schema.get("type", "string")
        if "string" not in (kinds if isinstance(kinds, list) else [kinds]):
            return False
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).replace("-", "_")
    return bool(_NAMES.search(snake)) and not _NO_SECRETS.search(snake)


def hide(arguments: Any, schema: Any) -> Any:
    """Return a copy of *arguments* in which what *schema* calls secret is hidden."""
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    known = properties if isinstance(properties, Mapping) else {}
    if isinstance(arguments, Mapping):
        return {
            name: HIDDEN
            if value is not None and is_secret(str(name), known.get(name))
            else hide(value, known.get(name))
            for name, value in arguments.items()
        }
    if isinstance(arguments, list):
        items = schema.get("items") if isinstance(schema, Mapping) else None
        return [hide(value, items) for value in arguments]
    return arguments

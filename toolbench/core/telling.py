"""Whether a name or a schema says that something is a secret."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

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
    return says_so(schema) or (may_be_text(schema) and is_telling(name))


def says_so(schema: Any) -> bool:
    """Tell whether *schema* itself calls what it describes a secret."""
    return isinstance(schema, Mapping) and (
        schema.get("format") == "password" or schema.get("writeOnly") is True
    )


def may_be_text(schema: Any) -> bool:
    """Tell whether *schema* names the type of text, or none."""
    kinds = schema.get("type", "string") if isinstance(schema, Mapping) else "string"
    return "string" in (kinds if isinstance(kinds, list) else [kinds])


@lru_cache(maxsize=4096)
def is_telling(name: str) -> bool:
    """Tell whether text called *name* is a secret."""
    words = snake(name)
    return bool(_NAMES.search(words)) and not _NO_SECRETS.search(words)


def snake(name: str) -> str:
    """Return *name* in small letters with an underscore between words: `api_key` for `API-key`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).replace("-", "_").lower()

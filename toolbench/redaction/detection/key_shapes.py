"""Find keys and tokens by their known shapes. The name of the field they are in does not matter."""

import re
from collections.abc import Iterator

# The prefixes that the issuers document, each with the least number of characters of such a key.
_SHAPES = re.compile(
    r"(?<![A-Za-z0-9_-])("
    r"sk-(ant-|proj-|or-v1-|svcacct-)?[A-Za-z0-9_-]{20,}"
    r"|gh[oprsu]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}|glpat-[A-Za-z0-9_-]{20,}"
    r"|hf_[A-Za-z0-9]{30,}|npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{50,}"
    r"|(AKIA|ASIA)[A-Z0-9]{16}|AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,}"
    r"|xox[abeoprs]-[A-Za-z0-9-]{20,}|[sr]k_(live|test)_[A-Za-z0-9]{20,}"
    r"|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"
    r"|eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"
    r")(?![A-Za-z0-9])"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[A-Za-z0-9+/=\s\\]*"
)


def keys_in(text: str) -> Iterator[str]:
    """Yield the keys and tokens in *text* that are known by their shape."""
    yield from (match[0] for match in _SHAPES.finditer(text))

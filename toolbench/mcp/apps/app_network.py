"""Read the addresses that an app asks for, and make the policy of its frame.

An address is checked before it becomes a part of the policy: it must be an origin of http or
https. So its characters cannot end a directive or name another source. Source: MCP Apps,
SEP-1865, `_meta.ui.csp`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_ORIGIN = re.compile(
    rf"https?://(?P<any>\*\.)?(?P<host>{_LABEL}(?:\.{_LABEL})*)(?::(?P<port>\d{{1,5}}))?"
)
_LAST_PORT = 65_535
# Addresses of each kind
_MOST = 20
# Characters of an address that is refused
_LONGEST = 100


@dataclass(frozen=True)
class AppNetwork:
    """The addresses in the `_meta.ui.csp` of an app."""

    connect: tuple[str, ...] = ()
    """Origins to which the app's code may send requests."""
    resources: tuple[str, ...] = ()
    """Origins of the app's scripts, styles, images, media and fonts."""
    refused: tuple[str, ...] = ()
    """Other sources that the app asks for, which are never allowed."""

    @property
    def addresses(self) -> tuple[str, ...]:
        """The addresses that the user may allow, each once."""
        return tuple(dict.fromkeys([*self.connect, *self.resources]))


NO_NETWORK = AppNetwork()
"""No addresses: the network of an app until the user allows more."""


def network_in(csp: Any) -> AppNetwork:
    """Return the addresses in *csp*, the value of `_meta.ui.csp` of an app."""
    if not isinstance(csp, Mapping):
        return NO_NETWORK
    allowed: dict[str, dict[str, None]] = {"connectDomains": {}, "resourceDomains": {}}
    refused, never = dict[str, None](), dict[str, None]()
    for key, value in csp.items():
        for text in _texts(value):
            origin = origin_of(text)
            if key not in allowed:
                never[text[:_LONGEST]] = None
            elif origin is None:
                refused[text[:_LONGEST]] = None
            else:
                allowed[key][origin] = None
    return AppNetwork(
        connect=tuple(allowed["connectDomains"])[:_MOST],
        resources=tuple(allowed["resourceDomains"])[:_MOST],
        refused=tuple({**refused, **never})[:_MOST],
    )


def origin_of(address: str) -> str | None:
    """Return *address* as an origin for the Content-Security-Policy; None if it is not allowed.

    A star is allowed only in place of the subdomains of a host with two or more labels.
    """
    text = address.lower().removesuffix("/")
    match = _ORIGIN.fullmatch(text)
    if match is None or int(match["port"] or 0) > _LAST_PORT:
        return None
    if match["any"] and "." not in match["host"]:
        return None
    return text


def policy_of(network: AppNetwork) -> str:
    """Return the Content-Security-Policy of an app that may reach *network*, and no more.

    There is no `frame-src`, so `default-src 'none'` applies: a frame inside a page with this policy
    cannot go to another address.
    """
    sources = " ".join(["", *network.resources])
    connect = ""
    if network.connect:
        connect = f"connect-src {' '.join(network.connect)}; "
    return (
        f"default-src 'none'; script-src 'unsafe-inline'{sources}; "
        f"style-src 'unsafe-inline'{sources}; img-src data: blob:{sources}; "
        f"media-src data: blob:{sources}; font-src data:{sources}; "
        f"{connect}base-uri 'none'; form-action 'none'"
    )


def _texts(value: Any) -> list[str]:
    if not isinstance(value, list):
        return []
    return [text for text in value if isinstance(text, str)]

"""Check the settings of `serve` before the server starts."""

import re
from collections.abc import Iterable
from ipaddress import ip_address
from math import isfinite
from threading import TIMEOUT_MAX
from typing import Any, Literal

from toolbench.errors import ToolbenchError
from toolbench.serving.access.connection_file import check_name
from toolbench.values import text_of

Require = Literal["policy", "always", "never"]
_LARGEST_PORT = 65_535
_LABEL = r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?"
_HOST = re.compile(rf"{_LABEL}(\.{_LABEL})*\.?", re.IGNORECASE)


def check_settings(
    *, name: Any, port: Any, require: Any, answer_within: Any, allowed_hosts: Any
) -> tuple[str, ...]:
    """Check the settings of `serve`; return the allowed hosts.

    Raises:
        ServerError: If the name of the server is invalid.
        ToolbenchError: If another setting is invalid.
    """
    check_name(name)
    if not _is_whole(port) or not 0 <= port <= _LARGEST_PORT:
        msg = f"port is a number from 0 to 65535, where 0 takes a free port, not {text_of(port)}."
        raise ToolbenchError(msg)
    if not isinstance(require, str) or require not in ("policy", "always", "never"):
        msg = f"require is 'policy', 'always' or 'never', not {text_of(require)}."
        raise ToolbenchError(msg)
    if not _is_seconds(answer_within):
        msg = f"answer_within is a number of seconds above 0, not {text_of(answer_within)}."
        raise ToolbenchError(msg)
    if isinstance(allowed_hosts, str | bytes) or not isinstance(allowed_hosts, Iterable):
        msg = (
            'allowed_hosts must be a list of names, such as ["hub.example.org"], '
            f"not {text_of(allowed_hosts)}."
        )
        raise ToolbenchError(msg)
    hosts = tuple(allowed_hosts)
    for host in hosts:
        _check_host(host)
    return hosts


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_seconds(value: Any) -> bool:
    is_number = isinstance(value, float) or _is_whole(value)
    return is_number and 0 < value <= TIMEOUT_MAX and isfinite(value)


def _check_host(host: Any) -> None:
    if isinstance(host, str) and (_HOST.fullmatch(host) or _is_address(host)):
        return
    if "*" in str(host):
        why = ": a pattern would also allow web pages of other hosts"
    else:
        why = ""
    msg = (
        "A name in allowed_hosts must be one host without scheme, port or path, such as "
        f"'hub.example.org', not {text_of(host)}{why}."
    )
    raise ToolbenchError(msg)


def _is_address(host: str) -> bool:
    try:
        ip_address(host.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True

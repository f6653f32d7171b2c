"""Explain how an agent on the user's machine reaches a server on JupyterHub or Binder."""

import os
from collections.abc import Sequence
from importlib.util import find_spec
from urllib.parse import urlsplit

from toolbench.serving.access.token import OWN_HEADER

_PREFIX = "JUPYTERHUB_SERVICE_PREFIX"
_PUBLIC = "JUPYTERHUB_PUBLIC_URL"
_TOKEN = {"JupyterHub": " (File > Hub Control Panel > Token)", "Binder": ""}
_BINDER = ("BINDER_LAUNCH_HOST", "BINDER_REPO_URL")


def proxy_hint(url: str, allowed_hosts: Sequence[str]) -> str:
    """Return a hint on how clients on other machines can reach *url* through JupyterHub or Binder.

    Return an empty string if this kernel does not run there.

    Args:
        url: The URL of the server on this machine.
        allowed_hosts: Additional host names that clients may use.
    """
    prefix = os.environ.get(_PREFIX)
    if not prefix:
        return ""
    if any(os.environ.get(name) for name in _BINDER):
        hub = "Binder"
    else:
        hub = "JupyterHub"
    parts = urlsplit(url)
    known = urlsplit(os.environ.get(_PUBLIC, "")).hostname
    host = next(iter(allowed_hosts), known or "HOST")
    lines = [
        f"This kernel runs on {hub}, not on your machine. Agents on the kernel's machine, for "
        "example in a terminal of JupyterLab, can connect now."
    ]
    if find_spec("jupyter_server_proxy") is None:
        lines.append("For an agent on your machine, install jupyter-server-proxy here.")
    if not allowed_hosts:
        if known:
            name = ""
        else:
            name = ", where HOST is the name in the address bar of your browser"
        lines.append(
            f'For an agent on your machine, allow the name of the hub: serve(tools, allowed_hosts=["{host}"]){name}.'
        )
    lines.append(
        f"From your machine, the URL of the server is https://{host}{prefix.rstrip('/')}/proxy/{parts.port}{parts.path}"
        f" with two headers, Authorization: token TOKEN-OF-JUPYTER{_TOKEN[hub]} and "
        f"{OWN_HEADER}: served.token."
    )
    return " ".join(lines)

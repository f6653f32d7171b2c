"""`%config Toolbench`: the limits, the rules of consent and the width of this notebook."""

import math
from typing import Any
from urllib.parse import urlsplit

from traitlets import Bool, Enum, Float, Int, TraitError, Unicode, observe, validate
from traitlets.config import Configurable

from toolbench.display.render import measures
from toolbench.runs.control import limits
from toolbench.runs.policy import policy
from toolbench.tracing import tracing
from toolbench.values import clip

_ALL = ("allow", "ask", "deny")
# Columns; narrower tables have a letter a line
_NARROWEST = 20


class PolicyEnum(Enum[Any]):
    """A setting that reads and changes an attribute of `policy`.

    `%config` shows the same value as `policy`, even if Python code changes it there.
    """

    # IPython lists the choices in `%config Toolbench` only if the name of the class contains "Enum"

    def get(self, obj: Any, cls: Any = None) -> Any:
        """Return the policy's current value."""
        return getattr(policy, str(self.name))

    def set(self, obj: Any, value: Any) -> None:
        """Set the policy's value.

        Raises:
            TraitError: If *value* is not a verdict.
        """
        setattr(policy, str(self.name), self._validate(obj, value))


class Toolbench(Configurable):
    """The settings that `%config Toolbench` shows and changes.

    IPython's configuration files can set them too.
    """

    timeout = Float(
        None,
        allow_none=True,
        help="Seconds of work after which a run that you start by a line or in a panel is cancelled. "
        "The calls of a sweep, of an agent and of Python code have no such limit.",
    ).tag(config=True)
    connect_timeout = Float(
        None,
        allow_none=True,
        help="Seconds after which %mcp connect stops connecting.",
    ).tag(config=True)
    destructive = PolicyEnum(
        _ALL, "ask", help="The policy for a tool that declares itself destructive."
    ).tag(config=True)
    undeclared = PolicyEnum(
        _ALL, "ask", help="The policy for a server's tool that does not declare what it changes."
    ).tag(config=True)
    registry = Unicode(
        "https://registry.modelcontextprotocol.io",
        help="The URL of the MCP registry that %mcp registry and %mcp connect --registry use.",
    ).tag(config=True)
    trace_content = Bool(
        None,
        allow_none=True,
        help="Whether OpenTelemetry's spans have arguments, results and messages, without known secrets. "
        "None: what OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT says.",
    ).tag(config=True)
    width = Int(
        measures.width, min=_NARROWEST, help="Characters per line of tables and panels."
    ).tag(config=True)

    def reset(self) -> None:
        """Reset the settings of this process, except those that are stored in the policy."""
        self.timeout = self.trace_content = None
        self.width = Toolbench.width.default_value

    @validate("timeout", "connect_timeout")
    def _check_seconds(self, proposal: Any) -> float | None:
        value: float | None = proposal["value"]
        if value is not None and not 0 < value < math.inf:
            name = proposal["trait"].name
            msg = f"Toolbench.{name} takes seconds above 0, as in 300, or None, not {value}."
            raise TraitError(msg)
        return value

    @validate("registry")
    def _check_registry(self, proposal: Any) -> str:
        address: str = proposal["value"].strip()
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query:
            msg = (
                "Toolbench.registry takes the URL of a registry, as in "
                f"'https://registry.modelcontextprotocol.io', not {clip(address)}."
            )
            raise TraitError(msg)
        return address

    @observe("timeout")
    def _set_timeout(self, change: Any) -> None:
        limits.seconds = change["new"]

    @observe("trace_content")
    def _set_trace_content(self, change: Any) -> None:
        tracing.content = change["new"]

    @observe("width")
    def _set_width(self, change: Any) -> None:
        measures.width = change["new"]

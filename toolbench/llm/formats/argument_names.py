"""Rename a tool's arguments for a provider that does not accept their names, and back."""

from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

from toolbench.core.tool import ToolDefinition
from toolbench.jsonschema.walk import every
from toolbench.llm.formats.format_changes import Changes
from toolbench.llm.formats.root_schema import plain_root
from toolbench.llm.providers import ARGUMENT_NAMES, Provider

AnyTool = ToolDefinition[Any, Any]
Names = Mapping[str, str]

_of_tool: WeakKeyDictionary[AnyTool, dict[Provider, Names]] = WeakKeyDictionary()


def sent_names(tool: AnyTool, provider: Provider) -> Names:
    """Return the argument names that *provider* refuses, each with the name that is sent instead."""
    known = _of_tool.setdefault(tool, {})
    if provider not in known:
        known[provider] = _sent_names(tool, provider)
    return known[provider]


def _sent_names(tool: AnyTool, provider: Provider) -> Names:
    rule = ARGUMENT_NAMES.get(provider)
    if rule is None:
        return {}
    schema = plain_root(tool.parameters(), Changes())
    nodes = [schema] if provider == "anthropic" else [n for _, n in every(schema)]
    names = {name for node in nodes for name in node.get("properties") or ()}
    return {name: rule.rename(name) for name in sorted(names) if not rule.fits(name)}


def renamed(arguments: Any, names: Names) -> Any:
    """Return a copy of *arguments*, with each key in *names* replaced, at any depth."""
    if isinstance(arguments, Mapping):
        return {names.get(k, k): renamed(v, names) for k, v in arguments.items()}
    if isinstance(arguments, list):
        return [renamed(value, names) for value in arguments]
    return arguments


def to_provider(arguments: Any, tool: AnyTool, provider: Provider) -> Any:
    """Return *arguments* under the names that *provider* accepts."""
    return _through(arguments, sent_names(tool, provider), provider)


def from_provider(arguments: Any, tool: AnyTool, provider: Provider) -> Any:
    """Return *arguments* under the tool's own names: the reverse of `to_provider`."""
    names = sent_names(tool, provider)
    return _through(arguments, {v: k for k, v in names.items()}, provider)


def _through(arguments: Any, names: Names, provider: Provider) -> Any:
    if not names:
        return arguments
    if provider != "anthropic":
        return renamed(arguments, names)
    return {names.get(key, key): value for key, value in arguments.items()}

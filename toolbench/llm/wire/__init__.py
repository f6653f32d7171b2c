"""The formats of providers, with one module for each provider."""

from toolbench.llm.message import Provider
from toolbench.llm.wire.anthropic import AnthropicWire
from toolbench.llm.wire.gemini import GeminiWire
from toolbench.llm.wire.mcp import MCPWire
from toolbench.llm.wire.openai_chat import OpenAIChatWire
from toolbench.llm.wire.openai_responses import ResponsesWire
from toolbench.llm.wire.wire import Wire

_ALL: list[Wire] = [
    OpenAIChatWire(),
    ResponsesWire(),
    AnthropicWire(),
    GeminiWire(),
    MCPWire(),
]
WIRES: dict[Provider, Wire] = {wire.provider: wire for wire in _ALL}
"""The format of each provider. If several formats match the data, the first of them is used."""


def wire_of(provider: Provider) -> Wire:
    """Return the format of *provider*.

    Raises:
        ValueError: If there is no such provider.
    """
    if provider not in WIRES:
        msg = f"There is no provider {provider!r}; use one of {', '.join(WIRES)}."
        raise ValueError(msg)
    return WIRES[provider]


def titles() -> dict[str, Provider]:
    """Map the title of each format to its provider; formats that are not for models come first."""
    ordered = sorted(WIRES.values(), key=lambda wire: wire.is_for_models)
    return {wire.title: wire.provider for wire in ordered}


def wires_from(provider: Provider | None) -> list[Wire]:
    """Return all formats in the order in which to try them: that of *provider* first."""
    own = [wire for name, wire in WIRES.items() if name == provider]
    return own + [wire for wire in WIRES.values() if wire not in own]

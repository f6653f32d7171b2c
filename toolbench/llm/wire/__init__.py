"""The formats of providers: one module each, which reads and writes messages, answers and requests."""

from collections.abc import Mapping

from toolbench.llm.providers import Provider
from toolbench.llm.wire.anthropic import AnthropicWire
from toolbench.llm.wire.gemini import GeminiWire
from toolbench.llm.wire.mcp import MCPWire
from toolbench.llm.wire.openai_chat import OpenAIChatWire
from toolbench.llm.wire.openai_responses import ResponsesWire
from toolbench.llm.wire.wire import Wire

_ALL = (OpenAIChatWire(), ResponsesWire(), AnthropicWire(), GeminiWire(), MCPWire())
WIRES: Mapping[Provider, Wire] = {wire.provider: wire for wire in _ALL}
"""The format of each provider. What several could have sent is the first one's."""

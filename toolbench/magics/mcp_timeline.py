"""%mcp timeline: when everything happened in this session."""

from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from toolbench.display.filter import help_line, text_of
from toolbench.display.timeline import TIMELINE_KEYS, Span, Timeline
from toolbench.magics.commands import Argument, Command, filter_words
from toolbench.mcp.monitoring.spans import spans_of_session
from toolbench.runs.history import history
from toolbench.runs.record import BEGAN

if TYPE_CHECKING:
    from toolbench.agent.conversation import Conversation
    from toolbench.magics.mcp_magics import MCPMagics


def _timeline(magics: "MCPMagics", options: Namespace) -> Timeline:
    # The quotes in the line are those of a filter
    words, only = list(options.filter), (options.name or "").strip('"')
    if only and only not in magics.client.known:
        words.insert(0, options.name)
        only = ""
    return Timeline(source=partial(_spans, magics, only)).of(text_of(words))


def _spans(magics: "MCPMagics", only: str) -> Iterator[Span]:
    """Yield a span for each thing that happened in this session.

    If *only* is the name of a server, yield only what is about this server.
    """
    # Those of loaded files are older
    for span in _all_spans(magics):
        if span.start >= BEGAN and only in ("", span.server):
            yield span


def _all_spans(magics: "MCPMagics") -> Iterable[Span]:
    spans = history().spans()
    for session in magics.client.known.values():
        spans += spans_of_session(session)
    # A fork has the answers before it too
    answers = dict[Span, None]()
    for conversation in _conversations(magics.namespace):
        from toolbench.agent.spans import answers_of  # noqa: PLC0415 - a chat has imported the agent

        answers |= dict.fromkeys(answers_of(conversation))
    return [*spans, *answers]


def _conversations(namespace: Mapping[str, Any]) -> "list[Conversation]":
    """Return all conversations with a model: those in variables, and those that runs belong to."""
    found = {}
    for value in [*namespace.values(), *(record.conversation for record in history())]:
        # By name: to import the class would import the agent
        place = type(value).__module__, type(value).__name__
        if place == ("toolbench.agent.conversation", "Conversation") and value.agent is not None:
            found[id(value)] = value
    return list(found.values())


COMMANDS = {
    "timeline": Command(
        "when everything happened: runs, messages, questions, answers of models",
        _timeline,
        (
            Argument(
                "name", nargs="?", offers="server", help="one server, and the runs of its tools"
            ),
            filter_words(help_line(TIMELINE_KEYS)),
        ),
    ),
}
"""The command of `%mcp` that shows the timeline."""

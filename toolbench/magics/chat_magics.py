"""%model and %%chat: name models, and let a model use the tools of the notebook."""

import ast
from argparse import Namespace
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from IPython.core.magic import (
    cell_magic,
    line_magic,
    magics_class,
    no_var_expand,
)

# Their names are imported with their first use
from toolbench import agent
from toolbench.core.tool import ToolDefinition
from toolbench.errors import did_you_mean, ended
from toolbench.llm import models
from toolbench.magics.catalog import Catalog
from toolbench.magics.commands import Argument, LineParser
from toolbench.magics.line import (
    HelpWanted,
    NotebookMagics,
    UsageError,
    answers_in_cell,
    listed_names,
    split,
    variable,
)
from toolbench.magics.table import Listing
from toolbench.runs.exception_text import sentence_of, without_traceback
from toolbench.runs.input_prompt import can_ask_in_cell
from toolbench.widgets.kit.notebook_variables import Variables
from toolbench.wording import counted

if TYPE_CHECKING:
    from toolbench.agent import Conversation
    from toolbench.llm.models import Model

_WEB = ("http://", "https://")


MODEL = LineParser(
    "model",
    (
        Argument("name", nargs="?", offers="model", help="the model's name here"),
        Argument("what", nargs="?", metavar="EXPR-or-URL", help="the model"),
    ),
    description="Name a model for %%chat, or list them: %model NAME EXPR-or-URL. The "
    "expression is Python of this notebook: a client object, (client, 'model'), a function "
    "(messages, tools) -> message, PersonModel(), ScriptedModel([...]), LocalModel(), as_model(...). "
    "A URL speaks OpenAI's protocol.",
    examples=(
        "%model small http://localhost:11434/v1#qwen3:4b",
        "%model you PersonModel()",
        "%model gpt (client, 'gpt-5')",
        "%model",
    ),
)
CHAT = LineParser(
    "chat",
    (
        Argument(
            "name",
            nargs="?",
            default="chat",
            type=variable,
            help="the variable that holds the conversation; chat if left out",
        ),
        Argument("--model", offers="model", help="a name that %%model gave, a variable, or a URL"),
        Argument(
            "--tools",
            type=listed_names,
            metavar="A,B",
            offers="tools",
            help="the tools it may use, or servers, for all their tools, or groups (github.issues_*); "
            "those that the notebook defines if left out",
        ),
        Argument("--new", action="store_true", help="begin a new conversation"),
        Argument(
            "--step",
            action="store_true",
            help="have each call wait for you: run, edit, refuse it, or answer by hand",
        ),
    ),
    mark="%%",
    description="Say something to a model, which may use the tools of this notebook. The "
    "body is your message; the cell shows the answer, each call as a row that opens. The "
    "conversation is kept in the variable NAME, and the next cell continues it. In its transcript, "
    "Fork begins another conversation at a step, and Open shows a call in the tool's panel. Stop, or "
    "Kernel > Interrupt, ends the cell and keeps the conversation.",
    examples=(
        "%%chat --model small\n  What is 2 + 3?",
        "%%chat bills --tools split_bill,add --new\n  Split 84 by four.",
        "%%chat --step\n  Split 84 by four.",
    ),
)


def _check_nothing_waits(conversation: "Conversation", name: str) -> None:
    """Check that no call of *conversation* waits for the user's decision.

    Until the user has decided, no new message can be sent.

    Raises:
        UsageError: If a call waits; the message says how to decide.
    """
    if waiting := len(conversation.pending):
        msg = (
            f"{counted(waiting, 'call')} of {name} must be decided first: {name}.run_pending() runs all, "
            f"{name}.reject_pending('why') refuses all, and {name} as the last line of a cell shows each."
        )
        raise UsageError(msg)


def _not_a_chat(name: str, value: Any, tools: Sequence[str] | None) -> str:
    """Return the message for a `%%chat` line with the name of a variable that is not a chat.

    Args:
        name: The name of the variable.
        value: The value of the variable.
        tools: The names after `--tools`; None if the line has no such option. If the variable is a
            tool, the user may have left out a comma after these names.
    """
    if tools is not None and isinstance(value, ToolDefinition):
        return (
            f"{name} is a tool, not a chat: write the tools with commas between them, as in "
            f"--tools {','.join([*tools, name])}."
        )
    return f"{name} is not a chat: use another name, as in %%chat another_name"


def _why(error: Exception) -> str:
    """Explain *error*, which Python raised for the expression of a `%model` line."""
    if isinstance(error, NameError):
        return f"{error}: import or define it first"
    if isinstance(error, SyntaxError):
        return f"it is not a Python expression ({error.msg}), and not a URL"
    return sentence_of(error)


@magics_class
class ChatMagics(NotebookMagics):
    """The magics `%model` and `%%chat`."""

    def __init__(self, shell: Any, catalog: Catalog) -> None:
        """Prepare the magics for *shell*; *catalog* has the tools that a model can use."""
        super().__init__(shell, catalog)
        self.models: dict[str, Model] = {}
        self._begun: list[Conversation] = []

    @no_var_expand
    @line_magic
    @answers_in_cell
    def model(self, line: str) -> Any:
        """Name a model."""
        if line.strip() in ("-h", "--help"):
            raise HelpWanted(MODEL.help_text())
        name, _, expression = line.strip().partition(" ")
        if not name:
            return self._listing()
        if not expression.strip():
            if name not in self.models:
                msg = f"There is no model {name} yet: write %model {name} URL, or a Python expression."
                raise UsageError(msg)
            return self.models[name]
        model = self._model_of(expression.strip())
        self.models[variable(name)] = model
        return None

    def _listing(self) -> Listing:
        rows = [(name, model.name, model.provider) for name, model in self.models.items()]
        nothing = "No models yet. Name one: %model small http://localhost:11434/v1#qwen3:4b"
        return Listing(("model", "is", "dialect"), rows, nothing)

    def _model_of(self, expression: str) -> "Model":
        value: Any = expression
        if not expression.startswith(_WEB):
            value = self._value_of(expression)
        try:
            return models.as_model(value)
        except (TypeError, ValueError) as error:
            raise UsageError(str(error)) from None

    def _value_of(self, expression: str) -> Any:
        """Evaluate *expression* in the notebook, where names of `toolbench.llm.models` are known.

        Raises:
            UsageError: If *expression* raises an error.
        """
        try:
            tree = ast.parse(expression, mode="eval")
            words = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
            known = words & set(models.__all__) - set(self.namespace)
            names = {name: getattr(models, name) for name in known}
            return eval(compile(tree, "%model", "eval"), self.namespace, names)  # noqa: S307 - as a cell would
        except Exception as error:  # noqa: BLE001 - the person's own code
            msg = f"This is not a model: {ended(_why(error))}"
            raise UsageError(msg) from None

    @no_var_expand
    @cell_magic
    @answers_in_cell
    def chat(self, line: str, cell: str) -> None:
        """Talk with a model."""
        options = CHAT.parse_words(split(line))
        if not cell.strip():
            msg = "What do you want to say? The body of the cell is your message."
            raise UsageError(msg)
        conversation = self._conversation(options)
        if options.step:
            self._begin_stepping(conversation, cell.strip("\n"))
            return
        _check_nothing_waits(conversation, options.name)
        from toolbench.widgets.transcript.live import (  # noqa: PLC0415 - brings the agent
            LiveTranscript,
            StopButton,
        )

        transcript = LiveTranscript(conversation, self.shell)
        button = StopButton(self.shell, conversation.interrupt)
        try:
            with button.display(), transcript.drawn():
                conversation.send_message(cell.strip("\n"))
                conversation.run()
            if button.is_pressed:
                # As Kernel > Interrupt does
                raise KeyboardInterrupt
        except KeyboardInterrupt as error:
            # The cells after this one do not run
            line = (
                f"Interrupted. The conversation is kept in {options.name}: continue with "
                f"%%chat {options.name} or {options.name}.run()."
            )
            raise without_traceback(error, line) from None

    def _begin_stepping(self, conversation: "Conversation", message: str) -> None:
        """Ask the model once, and show the panel in which its calls wait for a decision."""
        from toolbench.widgets.transcript.conversation_panel import (  # noqa: PLC0415 - brings the agent
            ConversationPanel,
        )

        conversation.send_message(message)
        publish = self.shell.display_pub.publish
        if not hasattr(self.shell, "kernel") or not can_ask_in_cell():
            # Nobody can press a button
            conversation.ask()
            publish(dict(conversation._repr_mimebundle_() or {}))
            return
        panel = ConversationPanel(conversation, Variables(self.namespace))
        publish(panel._repr_mimebundle_())
        panel.step()

    def _conversation(self, options: Namespace) -> "Conversation":
        known: Any = self.namespace.get(options.name)
        is_ours = isinstance(known, agent.Conversation) and known.agent is not None
        if known is not None and not is_ours:
            raise UsageError(_not_a_chat(options.name, known, options.tools))
        if is_ours and not options.new:
            if options.model or options.tools:
                msg = (
                    f"{options.name} is a conversation with its own model and tools. "
                    "Add --new to start over with others, or choose another name."
                )
                raise UsageError(msg)
            conversation: Conversation = known
            return conversation
        new = self._new(options)
        if known is not None:
            known.close()
        self._begun.append(new)
        self.namespace[options.name] = new
        return new

    def _new(self, options: Namespace) -> "Conversation":
        if options.model:
            model = self.model_named(options.model)
        elif self.models:
            # The one that was named last
            model = next(reversed(self.models.values()))
        else:
            msg = (
                "With which model? Name one: %model small "
                "http://localhost:11434/v1#qwen3:4b, then %%chat --model small."
            )
            raise UsageError(msg)
        return agent.Conversation(agent=agent.Agent(model, self._tools(options.tools)))

    def model_named(self, name: str) -> "Model":
        """Return the model that *name* means.

        *name* is a name that `%model` defined, a variable that contains a model, or a URL.

        Raises:
            UsageError: If there is no such model.
        """
        if name in self.models:
            return self.models[name]
        if name.startswith(_WEB) or name in self.namespace:
            return self._model_of(name)
        near = did_you_mean(name, self.models) or " %model lists them."
        msg = f"There is no model called {name!r}.{near}"
        raise UsageError(msg)

    def _tools(self, chosen: Sequence[str] | None) -> Iterable[Any]:
        if chosen is None:
            return self.catalog.tools(source="notebook").values()
        tools: list[Any] = []
        for name in chosen:
            tools += self._tools_of(name)
        return tools

    def _tools_of(self, name: str) -> Iterable[Any]:
        """Return the tools that *name* means: one tool, or those of a server or of a pattern."""
        if "*" in name:
            tools = self.catalog.tools(name)
            if not tools:
                msg = f"No tool is called like {name!r}. %tools lists them all."
                raise UsageError(msg)
            return tools.values()
        on_server = [e for e in self.catalog.entries() if e.source == f"mcp:{name}"]
        if on_server and name not in self.catalog.names():
            return [entry.make() for entry in on_server]
        return [self.catalog.find(name)]

    def close(self) -> None:
        """Close the tools of the conversations that `%%chat` began."""
        begun, self._begun = self._begun, []
        for conversation in begun:
            conversation.close()


ChatMagics.model.__doc__ = MODEL.help_text()
ChatMagics.chat.__doc__ = CHAT.help_text()

"""The commands about servers: `list`, `call`, `read`, `prompt`, `review`, `check` and `rerun`.

Their output is described in `terminal`, and their exit codes in `exit_codes`.
"""

import gc
import json
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from toolbench.cli.exit_codes import ExitCode
from toolbench.cli.server_source import (
    OPTION,
    Source,
    chosen,
    connected,
    server_in,
    servers_of,
    the_one,
    without_url,
)
from toolbench.cli.terminal import CommandError, Outcome, code_of, say, write_json
from toolbench.errors import ServerError, ToolbenchError
from toolbench.redaction.detect import secrets_in, secrets_in_words
from toolbench.redaction.redactor import Redactor

if TYPE_CHECKING:
    from toolbench.mcp.server_session import MCPServerSession

GROUP = "Servers (MCP)"
Program = Annotated[tuple[str, ...], Parameter(parse=False)]
"""The words after `--`, which start a server. `app.run` sets this parameter."""
NOWHERE = Source()
SOURCES = "--config FILE | --replay FILE | URL"


def _answers(command: Callable[..., Outcome]) -> Callable[..., ExitCode]:
    """Decorate *command* so that it writes its JSON document to stdout and returns an exit code.

    If it raises a `ToolbenchError`, the message is written to stderr. Secrets that were typed on
    the command line are hidden in the message.
    """

    @wraps(command)
    def answering(*words: str, **options: Any) -> ExitCode:
        try:
            # `input` too asks on stderr then: stdout may be a pipe to jq
            with redirect_stdout(sys.stderr):
                code, document = command(*words, **options)
            if document is not None:
                write_json(document)
        except ToolbenchError as error:
            known: list[str] = []
            for _, secrets in secrets_in_words(words):
                known += secrets
            say(Redactor(known).sentence(str(error)))
            return code_of(error)
        return code

    return answering


def add_to(app: App) -> None:
    """Add the commands to *app*."""
    for command, name, alias, words in (
        (list_, "list", "tools", "[SERVER]"),
        (call, "call", None, "SERVER.TOOL [KEY=VALUE... | JSON]"),
        (read, "read", None, "[SERVER] URI"),
        (prompt, "prompt", None, "SERVER.NAME [KEY=VALUE...]"),
        (review, "review", None, "[SERVER]"),
        (check, "check", None, "FILE..."),
        (rerun, "rerun", None, "[SERVER] RECORDING"),
    ):
        usage = f"Usage: toolbench {name} [{SOURCES}] {words} [-- COMMAND...]"
        app.command(command, name=name, alias=alias, group=GROUP, usage=usage)


@_answers
def list_(*words: str, source: Source = NOWHERE, program: Program = ()) -> Outcome:
    """List servers and their tools as JSON.

    The list says for each tool whether it only reads or also changes something, and how many tokens
    it costs to offer the tool to a model.

    Example: `toolbench list --config mcp.json | jq -r '.servers[].tools[].name'`

    Args:
        words: The name of a server. If it is left out, all servers are listed.
        source: The options that say where the servers are: `--config`, `--replay` and others.
        program: The command after `--`, which starts the server.
    """
    entries, rest = servers_of(source, program, words)
    with connected(chosen(entries, _one_word(rest)), source) as client:
        sessions, code = client.servers.values(), ExitCode.OK
        if any(session.error for session in sessions):
            code = ExitCode.CONNECTION
        return code, {"servers": [_described(session) for session in sessions]}


@_answers
def call(
    *words: str,
    source: Source = NOWHERE,
    yes: Annotated[bool, OPTION] = False,
    answer: Annotated[tuple[str, ...], OPTION] = (),
    load: int | None = None,
    at_once: int = 1,
    program: Program = (),
) -> Outcome:
    """Call a tool, and print its result as the server sent it.

    Arguments are read as in a `%tool` line. If an argument is a string according to the tool's
    schema, its value is used as it is. Other values are read as JSON if possible. For an argument
    that is bytes, `@path` stands for the content of a file. A value that is only `${VAR}` stands
    for an environment variable.

    Example: `toolbench call lib.find title=Emma limit=3 -- python server.py`

    Args:
        words: The tool, `SERVER.TOOL` or `TOOL`, and its arguments: `key=value`, or a JSON object.
        yes: Approve the call in advance, even if it may delete or overwrite something.
        answer: The answer to a question of the server, as JSON. Repeat the option for more
            questions.
        load: Make this number of calls over one connection, and print how long the calls take.
        at_once: With `--load`, the number of calls that run at the same time.
        source: The options that say where the servers are: `--config`, `--replay` and others.
        program: The command after `--`, which starts the server.
    """
    entries, rest = servers_of(source, program, words)
    target, others = _target(rest, "tool")
    presets = [_json("--answer", text) for text in answer]
    if at_once < 1 or (load is not None and load < 1):
        msg = "--load and --at-once take a whole number above 0."
        raise CommandError(msg)
    with connected(chosen(entries, server_in(target, entries)), source) as client:
        from toolbench.cli.server_calls import often, once, run_of  # noqa: PLC0415 - they bring much
        from toolbench.magics.call_arguments import looks_like_json, read_arguments  # noqa: PLC0415 - the same
        from toolbench.mcp.config.placeholders import names_in  # noqa: PLC0415 - the same

        tool = client.tool(target)
        literal = None
        if others and looks_like_json(others[-1]):
            literal = others.pop()
            _json("A word that begins with {", literal)
        arguments = read_arguments(tool, os.environ, others, literal)
        run, session = run_of(tool, arguments), client.server(tool.server)
        for name in names_in(words):
            # As it is for a variable of the server: a log of CI keeps what is printed
            session.keep_secret(secrets_in(os.environ.get(name, ""), name))
        if load is None:
            return once(run, session, presets, is_agreed=yes)
        return often(run, session, tool, load, at_once, is_agreed=yes)


@_answers
def read(*words: str, source: Source = NOWHERE, program: Program = ()) -> Outcome:
    """Read a resource, and print its contents as the server sent them.

    Example: `toolbench read library books://1815/emma --config mcp.json`

    Args:
        words: The server and the URI of the resource. You can leave out the server if there is only
            one.
        source: The options that say where the servers are: `--config`, `--replay` and others.
        program: The command after `--`, which starts the server.
    """
    entries, rest = servers_of(source, program, words)
    *server, uri = rest or [""]
    if not uri or len(server) > 1:
        msg = "Give a server and a URI: toolbench read SERVER URI. With one server, the URI is enough."
        raise CommandError(msg)
    with connected(the_one(entries, "".join(server)), source) as client:
        (session,) = client.servers.values()
        return _asked(session, "resources/read", {"uri": uri})


@_answers
def prompt(*words: str, source: Source = NOWHERE, program: Program = ()) -> Outcome:
    """Fill in a prompt, and print its messages as the server sent them.

    Example: `toolbench prompt library.review title=Emma --config mcp.json`

    Args:
        words: The name of the prompt, `SERVER.NAME` or `NAME`, and its arguments as `key=value`.
        source: The options that say where the servers are: `--config`, `--replay` and others.
        program: The command after `--`, which starts the server.
    """
    from toolbench.jsonschema.node import read as schema_node  # noqa: PLC0415 - it brings much
    from toolbench.magics.call_arguments import from_words  # noqa: PLC0415 - the same

    entries, rest = servers_of(source, program, words)
    target, others = _target(rest, "prompt")
    with connected(the_one(entries, server_in(target, entries)), source) as client:
        (session,) = client.servers.values()
        # A name may have a dot too
        if target not in [each.name for each in session.prompts]:
            target = target.removeprefix(f"{session.name}.")
        found = session.prompts.named(target)
        arguments = from_words(others, schema_node(found.schema))
        found.check(arguments)
        params = {"name": found.name, "arguments": arguments}
        return _asked(session, "prompts/get", params)


@_answers
def review(
    *words: str,
    source: Source = NOWHERE,
    probe: Annotated[bool, OPTION] = False,
    tools: str = "",
    junit: Path | None = None,
    overwrite: Annotated[bool, OPTION] = False,
    program: Program = (),
) -> Outcome:
    """Review a server before a model gets its tools, as `%mcp review` does.

    Without `--probe`, no tool is called. The exit code is 1 if the verdict is "no" or "not yet".
    With `--probe`, it is also 1 if the server breaks a rule.

    Example: `toolbench review library --config mcp.json --probe | jq '.probe.results[] | select(.state == "wrong")'`

    Args:
        words: The name of the server. You can leave it out if there is only one.
        probe: Also test whether the server follows the specification of MCP. Only read-only tools
            are called.
        tools: With `--probe`, the names of tools to call even if they are not read-only, separated
            by commas.
        junit: With `--probe`, the file to write a JUnit XML report to.
        overwrite: Replace the file of `--junit` if it exists.
        source: The options that say where the servers are: `--config`, `--replay` and others.
        program: The command after `--`, which starts the server.
    """
    from toolbench.cli.server_review import probed, reviewed  # noqa: PLC0415 - it brings much
    from toolbench.files import check_free  # noqa: PLC0415 - the same

    if not probe and (tools or junit is not None):
        msg = "--tools and --junit are for --probe: give it too."
        raise CommandError(msg)
    if junit is not None and not overwrite:
        check_free(junit)
    entries, rest = servers_of(source, program, words)
    with connected(the_one(entries, _one_word(rest)), source) as client:
        (session,) = client.servers.values()
        code, document = reviewed(session)
        if not probe:
            return code, document
        named = [name.strip() for name in tools.split(",") if name.strip()]
        code, document["probe"] = probed(session, named, junit, overwrite=overwrite)
        return code, document


@_answers
def check(
    *words: str,
    source: Source = NOWHERE,
    yes: Annotated[bool, OPTION] = False,
    only: Annotated[tuple[str, ...], OPTION] = (),
    junit: Path | None = None,
    overwrite: Annotated[bool, OPTION] = False,
    program: Program = (),
) -> Outcome:
    """Run the checks in files. Each check calls a tool, and compares the result.

    Only the servers that the checks need are connected. Checks of a tool in a Python module
    (`MODULE:TOOL`) need no server. The exit code is 1 if a result is not as expected. If a check
    could not run, the exit code says why.

    Example: `toolbench check library.checks.yaml --config mcp.json | jq '.results[] | select(.state != "passed")'`

    Args:
        words: The files with the checks, `NAME.checks.yaml`.
        yes: Approve in advance all calls that may delete or overwrite something.
        only: Run only the check with this name. Repeat the option to run several checks.
        junit: The file to write a JUnit XML report to.
        overwrite: Replace the file of `--junit` if it exists.
        source: The options that say where the servers are: `--config`, `--replay` and others.
        program: The command after `--`, which starts the server.
    """
    from toolbench.cli.server_checks import (  # noqa: PLC0415 - they bring much
        checks_in,
        run_checks,
        servers_named,
    )
    from toolbench.files import check_free  # noqa: PLC0415 - the same

    if junit is not None and not overwrite:
        check_free(junit)
    checks = checks_in(without_url(source, program, words), only)
    run = partial(run_checks, checks, is_agreed=yes, junit=junit, overwrite=overwrite)
    if all(check.is_of_module for check in checks):
        # As `connected` does
        gc.enable()
        return run(None)
    entries, _ = servers_of(source, program, words)
    with connected(servers_named(checks, entries), source) as client:
        return run(client)


@_answers
def rerun(
    *words: str,
    source: Source = NOWHERE,
    tools: str = "",
    yes: Annotated[bool, OPTION] = False,
    program: Program = (),
) -> Outcome:
    """Repeat the calls of a recording, and compare the results, as `%mcp rerun` does.

    Questions of the server are answered as in the recording. If a tool does not declare that it is
    read-only, it is called only if you name it in `--tools`, or if you approve the calls. The exit
    code is 1 if a result is different or a call fails, and 4 if the calls were not approved.

    Example: `toolbench rerun shop shop.jsonl --config mcp.json | jq '.results[] | select(.state != "same")'`

    Args:
        words: The name of a server, and the file of the recording. Without a name, the calls of all
            servers in the recording are repeated.
        tools: The names, separated by commas, of tools to call without asking, even if they are not
            read-only.
        yes: Approve all calls in advance.
        source: The options that say where the servers are: `--config`, `--replay` and others.
        program: The command after `--`, which starts the server.
    """
    from toolbench.cli.server_rerun import recorded_servers, repeat  # noqa: PLC0415 - it brings much

    entries, rest = servers_of(source, program, words)
    recording, wanted = recorded_servers(rest, entries)
    with connected(wanted, source) as client:
        named = [name.strip() for name in tools.split(",") if name.strip()]
        return repeat(client, recording, named, is_agreed=yes)


@_answers
def examine(*words: str, source: Source, program: Sequence[str]) -> Outcome:
    """Check each step of the connections to servers, for `toolbench doctor`."""
    from toolbench.mcp.doctor import OFFERS, diagnose  # noqa: PLC0415 - it brings much
    from toolbench.mcp.trust.configurations import approved  # noqa: PLC0415 - the same

    entries, rest = servers_of(source, program, words, is_discovering=True)
    looked_at, code = [], ExitCode.OK
    entries = approved(chosen(entries, _one_word(rest)), approve=source.approve)
    for name, entry in entries.items():
        steps = []
        for step in diagnose(name, entry, seconds=source.timeout or 30.0):
            steps.append(step._asdict())
            took = ""
            if step.milliseconds is not None:
                took = f" ({step.milliseconds:,.0f} ms)"
            say(f"{name}: {step.state:7} {step.name}{took}: {step.words}")
            if step.advice:
                say(step.advice)
            if step.state == "failed" and step.name in OFFERS:
                code = max(code, ExitCode.FAILED)
            elif step.state == "failed":
                code = ExitCode.CONNECTION
        looked_at.append({"name": name, "steps": steps})
    return code, {"servers": looked_at}


def _target(words: Sequence[str], kind: str) -> tuple[str, list[str]]:
    """Split *words* into the first word, which names a tool or another *kind*, and the rest.

    Raises:
        CommandError: If *words* is empty.
    """
    if not words:
        msg = f"Which {kind}? `toolbench list` shows them all."
        raise CommandError(msg)
    return words[0], [*words[1:]]


def _one_word(words: Sequence[str]) -> str:
    """Return the single word in *words*, which names a server; empty if there is no word.

    Raises:
        CommandError: If there are several words.
    """
    if len(words) > 1:
        msg = f"Give one server, not {' '.join(words)}."
        raise CommandError(msg)
    return "".join(words)


def _described(session: "MCPServerSession") -> dict[str, Any]:
    """Return what *session* offers, for `list`."""
    from toolbench.mcp.review import TokenBill  # noqa: PLC0415 - it brings much

    bill = TokenBill.of(session.tools)
    tools = []
    for tool in session.tools:
        cost = bill.tools.get(tool.remote_name)
        tools.append(
            {
                "name": tool.remote_name,
                "description": tool.description,
                "inputSchema": tool.input_schema,
                "effect": tool.hints.effect,
                # No model gets those that a server keeps for its app
                "tokens": cost.tokens if cost else 0,
            }
        )
    described = {
        "name": session.name,
        "error": session.error,
        "protocolVersion": session.protocol_version,
        "serverInfo": session.server_info,
        "instructions": session.instructions,
        "tokens": bill.total.tokens,
        "tools": tools,
        "disabled": [{"name": each.name, "reason": each.reason} for each in session.tools.disabled],
    }
    for key, items in (
        ("resources", session.resources),
        ("resourceTemplates", session.resources.templates),
        ("prompts", session.prompts),
    ):
        try:
            described[key] = [dict(item.raw) for item in items]
        except ServerError as error:
            say(str(error))
    shown: dict[str, Any] = session.keep_secret(()).value(described)
    return shown


def _asked(session: "MCPServerSession", method: str, params: dict[str, Any]) -> Outcome:
    """Send a request, and return its result as the server sent it."""
    try:
        result = session.request(method, params)
    except ServerError as error:
        if not session.is_connected:
            raise
        # It refused
        say(str(error))
        return ExitCode.FAILED, None
    return ExitCode.OK, session.keep_secret(()).value(result)


def _json(option: str, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        msg = f"{option} has to be JSON: {error}."
        raise CommandError(msg) from None

"""Check that the options of a line fit together; an option without effect is an error."""

from argparse import Namespace

from toolbench.magics import mcp_connect
from toolbench.magics.parsers import UsageError, variable


def check_tool(options: Namespace, literal: str | None, cell: str | None) -> None:
    """Check the options of `%tool` or `%%tool`.

    *literal* is the JSON object in the line, and *cell* is the body; None if there is none.

    Raises:
        UsageError: If an option or argument would have no effect.
    """
    if options.schema:
        rest = [*options.arguments, *([literal] if literal else []), *_options(options)]
        if options.out and "--yes" in rest:
            # To overwrite the file
            rest.remove("--yes")
        rest += ["the body of the cell"] if cell is not None else []
        if rest:
            msg = (
                f"--schema shows the tool as a model gets it and runs nothing: {' '.join(rest)!r} "
                "has no meaning there. -o FILE writes it to a file."
            )
            raise UsageError(msg)
        return
    if options.export or options.openhands:
        _check_export(options, literal, cell)
        return
    if options.out:
        variable(options.out)
    if options.format and cell is None:
        msg = "-f is the format of the body of %%tool, but %tool has no body."
        raise UsageError(msg)
    if options.sweep:
        _check_sweep(options, literal, cell)
    if options.dry_run:
        _check_dry_run(options)
    if options.bg and options.out:
        msg = "-o keeps the result of a run, --bg does not wait for it: give only one of them."
        raise UsageError(msg)


def _check_sweep(options: Namespace, literal: str | None, cell: str | None) -> None:
    body = ["the body of the cell"] if cell is not None else []
    rest = [*body, *([literal] if literal else []), *_options(options)]
    rest = [word for word in rest if word != "--yes"]
    if rest or not options.arguments:
        why = f"{' '.join(rest)!r} has no meaning there" if rest else "there are none"
        msg = f"--sweep takes values on its line, as in x=1..5 y=[a,b]: {why}."
        raise UsageError(msg)


def _check_export(options: Namespace, literal: str | None, cell: str | None) -> None:
    if not options.export:
        msg = "--openhands says how a package is written: add --export DIR."
        raise UsageError(msg)
    body = ["the body of the cell"] if cell is not None else []
    # Others name more tools
    rest = [word for word in options.arguments if "=" in word]
    rest += [*([literal] if literal else []), *_options(options), *body]
    rest += [f"-o {options.out}"] if options.out else []
    rest += ["--sweep"] if options.sweep else []
    rest = [word for word in rest if word != "--yes"]
    if rest:
        msg = (
            f"--export writes a package and runs nothing: {' '.join(rest)!r} has no meaning there."
        )
        raise UsageError(msg)


def _check_dry_run(options: Namespace) -> None:
    of_the_check = ("--dry-run", "-f ")
    rest = [word for word in _options(options) if not word.startswith(of_the_check)]
    rest += [f"-o {options.out}"] if options.out else []
    if rest:
        msg = (
            "--dry-run checks the arguments and runs nothing: "
            f"{' '.join(rest)!r} has no meaning there."
        )
        raise UsageError(msg)


def _options(options: Namespace) -> list[str]:
    """Return the options of the line, as text, that have a meaning only if the tool is run."""
    written = {
        "-f": options.format,
        "--dry-run": options.dry_run,
        "--yes": options.yes,
        "--bg": options.bg,
        "--sweep": options.sweep if options.schema else False,
        "--export": options.export if options.schema else None,
        "--openhands": options.openhands if options.schema else False,
        "--timeout": options.timeout,
    }
    return [
        name if value is True else f"{name} {value}" for name, value in written.items() if value
    ]


def check_history(options: Namespace) -> None:
    """Check the line of `%tool_history`.

    Raises:
        UsageError: If a count or --json is used with --rerun.
    """
    if options.rerun is not None and (options.json or options.count is not None):
        msg = "--rerun N repeats one run: a count or --json has no meaning there."
        raise UsageError(msg)


def _check_replay(options: Namespace, command: list[str] | None) -> None:
    others = {
        "--record": options.record,
        "--config": options.config,
        "--env": options.env,
        **dict.fromkeys(mcp_connect.given(options), True),
        options.target: options.target,
        "--": command is not None,
    }
    ignored = [name for name, value in others.items() if value]
    if ignored:
        msg = f"--replay answers from the file and starts nothing: no {' and no '.join(ignored)}."
        raise UsageError(msg)


def _check_yes(options: Namespace) -> None:
    file = {"diff": "html", "record": "as_notebook"}.get(options.command)
    if file and options.yes and not getattr(options, file):
        msg = f"--yes overwrites a file: add --{file.replace('_', '-')} FILE."
        raise UsageError(msg)


def check_mcp(options: Namespace, command: list[str] | None) -> None:
    """Check the options of `%mcp`; *command* has the words after ` -- `, or is None.

    Raises:
        UsageError: If an option would have no effect.
    """
    if command is not None and options.command != "connect":
        msg = f"Only %mcp connect takes a command after --, not %mcp {options.command}."
        raise UsageError(msg)
    _check_yes(options)
    if options.command == "disconnect" and options.all and options.name:
        msg = "Give NAME or --all, not both."
        raise UsageError(msg)
    if options.command != "connect":
        return
    if options.replay:
        _check_replay(options, command)
    if options.config:
        one = {"name": options.name, "--mode": options.mode, "--env": options.env}
        ignored = [name for name, value in one.items() if value]
        ignored += [name for name in mcp_connect.given(options) if name != "--timeout"]
        ignored += ["--"] if command is not None else []
        if ignored:
            msg = (
                f"--config takes its servers from the file: no {' and no '.join(ignored)}. "
                "--only NAME,... selects some of them."
            )
            raise UsageError(msg)
        return
    if options.only:
        msg = "--only selects servers of a file: add --config FILE."
        raise UsageError(msg)
    if options.approve:
        msg = "--approve is for the servers of a file: add --config FILE."
        raise UsageError(msg)
    mcp_connect.check(options, command)
    if options.env and options.target:
        msg = "--env is for a server that a command starts, not for a URL or an object."
        raise UsageError(msg)

"""Write tools of a notebook as a package: `export_package`."""

import json
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from toolbench.core.executor import FunctionCall, innermost
from toolbench.core.tool import ToolDefinition
from toolbench.core.tool_advice import remake_advice
from toolbench.core.validators import models_read_by_letters
from toolbench.errors import ExportError
from toolbench.export.code.code_secrets import check_text, variables_in
from toolbench.export.code.sdk_imports import with_context_of_sdk, with_imports_of_sdk
from toolbench.export.code.statements import Statement, statements_of
from toolbench.export.package_html import package_html
from toolbench.export.package_name import package_name
from toolbench.export.project.division import divided
from toolbench.export.project.imports import modules_in, requirements
from toolbench.export.project.modules import modules_for
from toolbench.export.project.notes import (
    files_named_in,
    notes_on_left_out,
    notes_on_surroundings,
)
from toolbench.export.project.project import (
    notebook_for,
    pyproject_for,
    readme_for,
    server_for,
    tests_for,
)
from toolbench.export.project.recorded_calls import calls_of, offers_of
from toolbench.export.project_folder import check_places, write_files
from toolbench.export.tool_code.function_tool import parts_of_function
from toolbench.export.tool_code.made_tool import parts_of_class, parts_of_made
from toolbench.export.tool_code.tool_parts import AnyTool, ToolParts
from toolbench.runs.history import history
from toolbench.runs.kernel import running_shell
from toolbench.runs.record import RunRecord

_OURS = "toolbench"


class PackageFolder(type(Path())):  # type: ignore[misc]  # Path itself: from Python 3.12
    """The path of an exported package. A notebook displays it as a card.

    Attributes:
        package: The name with which the package is imported.
        tool_names: The names of the tools in the package.
        files: The paths of the files that the export wrote, relative to the folder.
        variables: The names of the environment variables that the package reads.
        openhands: Whether the package is for the OpenHands SDK.
        notes: Sentences about things that you should check, such as code that is not in the
            package, calls that the tests do not repeat, and files of an earlier export. The README
            also has these sentences, except the sentences about an earlier export.
    """

    package: str = ""
    tool_names: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    openhands: bool = False
    notes: tuple[str, ...] = ()

    def to_look_at(self) -> str:
        """Return the notes as lines of text, each with a line break before it."""
        return "".join(f"\nTo look at: {note}" for note in self.notes)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        text = f"{Path(self)!r}{self.to_look_at()}"
        return {"text/plain": text, "text/html": package_html(self)}


def export_package(
    tools: AnyTool | Sequence[AnyTool],
    folder: str | Path,
    *,
    cells: Collection[int] = (),
    tests: Iterable[RunRecord] | None = None,
    openhands: bool = False,
    overwrite: bool = False,
) -> PackageFolder:
    """Write *tools* of this notebook, or of a file, as a package that can be installed.

    The project also contains tests, a README, a notebook, an MCP server and pyproject.toml. The
    package is named after the tool or, if there are several tools, after the folder. `_tool` is
    added if Python or an installed package already uses this name. The MCP server runs tools one
    after another, unless they are coroutine functions.

    `definition.py` contains the names, descriptions and arguments of the tools, and `impl.py`
    contains the code that does the work. The export reads the source code of the cells or of the
    file, and copies the imports, functions, classes and constants that the tools need. It does not
    run any code. If a name is assigned several times, functions use its last value.

    Assignments to a part of a needed object, such as `prices["tea"] = 3`, are copied too. Other
    statements that may change a needed object, such as `rows.append(1)`, are not copied. The README
    and the result's `notes` list them. To include such a statement, pass the number of its cell in
    *cells*.

    The package does not contain the files and databases that the code uses. The README lists the
    files, and the tests are skipped if one of them is missing. `API_KEY = "..."` becomes
    `API_KEY = environ["API_KEY"]`. The export fails if the code contains another secret. It also
    fails if a needed value exists only in the kernel, or comes from a magic or from a module that
    cannot be installed.

    The tests repeat calls of this session, with the answers that the user gave. If a tool declares
    `read_only` and not `open_world`, the tests compare the results. For other tools, they only
    check that the arguments are accepted. Refused calls, calls of an earlier version of the tool,
    calls with a secret and calls with an unanswered question do not become tests. The README gives
    the reasons. Paths in the arguments are not changed.

    Args:
        tools: One or several tools, made by `@tool`, by `ToolDefinition(...)` or by a class with
            `create`.
        folder: The folder of the project, which is created if needed. `~` is the home directory.
        cells: The numbers of cells to include completely: `[2]` for In [2]. For tools from a file,
            `[0]` includes all statements of the file.
        tests: The recorded calls that become tests. By default, these are the calls of this
            session in `history()`. Pass `()` for no calls.
        openhands: Write the package for the OpenHands SDK. The package then needs the SDK and
            Python 3.12, and does not need toolbench. Its tools cannot ask questions or report
            progress, because the SDK has no `current_run`.
        overwrite: Replace existing files that have other content. Files that only an earlier export
            wrote are removed, unless you changed them.

    Returns:
        The path of the folder. Its attribute `notes` has sentences about things that you should
        check. A notebook displays the result as a card with these sentences.

    Raises:
        ExportError: If a needed part cannot be found or written, or if a secret would be written.
            In this case, nothing is written.
        FileError: If files exist with other content. The message names them, and nothing is
            written.

    Examples:
        >>> from pathlib import Path
        >>> from toolbench.export import export_package
        >>> length = Path("bills.py").write_text('''
        ... from toolbench import tool
        ...
        ... @tool(read_only=True)
        ... def split_bill(total: float, people: int = 2) -> float:
        ...     "Split a bill evenly."
        ...     return total / people
        ... ''')
        >>> import bills
        >>> folder = export_package(bills.split_bill, "split-bill")
        >>> sorted(path.name for path in folder.glob("[!.]*"))
        ['README.md', 'pyproject.toml', 'split_bill', 'split_bill.ipynb', 'tests']
    """
    if isinstance(tools, ToolDefinition):
        tools = [tools]
    project = PackageFolder(Path(folder).expanduser())
    written = files_of(tools, project.name, cells=cells, tests=tests, openhands=openhands)
    contents = {place: _encoded(place, text) for place, text in written.files.items()}
    if not overwrite:
        check_places(project, contents)
    changes = write_files(project, contents, removal=overwrite)
    project.package, project.files = written.package, tuple(contents)
    project.variables, project.openhands = tuple(written.variables), openhands
    project.tool_names = tuple(tool.name for tool in tools)
    project.notes = (*written.notes, *changes)
    return project


def _encoded(place: str, text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        msg = (
            f"The text for {place} has a lone surrogate (half of a character): nothing was written."
        )
        raise ExportError(msg) from None


class ProjectFiles(NamedTuple):
    """The files of a project, by their paths in the project, and notes about them."""

    package: str
    files: Mapping[str, str]
    variables: Sequence[str]
    notes: tuple[str, ...]


def files_of(
    tools: Sequence[AnyTool],
    folder: str,
    *,
    cells: Collection[int],
    tests: Iterable[RunRecord] | None,
    openhands: bool,
) -> ProjectFiles:
    """Return the files of the project, and notes about them."""
    parts = _parts(tools, openhands=openhands)
    package = package_name(tools, folder)
    division = divided(parts, cells=cells, openhands=openhands)
    modules = modules_for(parts, division, package, openhands=openhands)
    modules["server.py"] = server_for(package, openhands=openhands)
    variables, named_files = variables_in(modules), files_named_in(modules)
    secrets = sorted({one.name for tool in tools for one in tool.secrets.values()})
    calls = calls_of(
        parts,
        history() if tests is None else tests,
        earlier_sessions=tests is not None,
        openhands=openhands,
    )
    notes = (
        *notes_on_surroundings(variables, secrets, named_files),
        *notes_on_left_out(division.left_out, cells),
        *calls.notes,
    )
    recorded = {
        "offers": offers_of(tools),
        "calls": calls.repeated,
        "accepted": calls.accepted,
    }
    test_code = tests_for(
        package,
        variables=[*variables, *secrets],
        files=named_files,
        has_repeated=bool(calls.repeated),
        has_accepted=bool(calls.accepted),
        openhands=openhands,
    )
    summary = tools[0].description.strip().partition("\n")[0] or f"The tool {tools[0].name}."
    served = modules_in(modules["server.py"])
    imported = frozenset[str]().union(
        *(modules_in(text) for name, text in modules.items() if name != "server.py")
    )
    if not openhands:
        # Then `toolbench.compat.openhands` answers for them
        imported = frozenset(m for m in imported if m.partition(".")[0] != "openhands")
    needed = requirements(imported, package=package, extras={})
    extra = [] if openhands else requirements(served, package=package, extras=_EXTRAS)
    files = {
        "pyproject.toml": pyproject_for(
            package, summary, needed, extra, "3.12" if openhands else "3.11"
        ),
        "README.md": readme_for(package, tools, calls, notes, openhands=openhands),
        f"{package}.ipynb": notebook_for(package, tools, calls.repeated, openhands=openhands),
        f"tests/test_{package}.py": test_code,
        "tests/recorded.json": json.dumps(recorded, indent=1, ensure_ascii=False) + "\n",
        **{f"{package}/{name}": text for name, text in modules.items()},
    }
    for place, text in files.items():
        check_text(text, place)
    return ProjectFiles(package, files, [*variables, *secrets], notes)


_EXTRAS = {"jupyter-toolbench": "[serve]", "fastmcp-slim": "[server]"}


def _parts(tools: Sequence[AnyTool], *, openhands: bool) -> list[ToolParts]:
    if not tools:
        msg = "No tool was given: name at least one."
        raise ExportError(msg)
    names = [getattr(tool, "name", "") for tool in tools]
    if twice := [name for name in names if name and names.count(name) > 1]:
        msg = f"Two tools are called {twice[0]}: a package has one of each name."
        raise ExportError(msg)
    modules = [_home_of(tool) for tool in tools]
    if outdated := [advice for tool in tools if (advice := remake_advice(tool))]:
        raise ExportError(outdated[0])
    if len({id(module) for module in modules}) > 1:
        msg = (
            f"{', '.join(tool.name for tool in tools)} are of several modules "
            f"({', '.join(sorted({m.__name__ for m in modules}))}): export them one by one."
        )
        raise ExportError(msg)
    [module, *_] = modules
    try:
        statements = statements_of(module)
    except (OSError, TypeError) as error:
        msg = f"The source of {module.__name__} cannot be read: {error}."
        raise ExportError(msg) from error
    if openhands:
        statements = with_imports_of_sdk(statements)
    else:
        statements = with_context_of_sdk(statements)
    parts = list[ToolParts]()
    names_in_use = {name for s in statements for name in s.names.gives}
    for tool in tools:
        part = _parts_of(tool, module, statements, names_in_use, openhands=openhands)
        parts.append(part)
        statements = list(parts[-1].statements)
    return parts


def _parts_of(
    tool: AnyTool,
    module: ModuleType,
    statements: Sequence[Statement],
    names_in_use: set[str],
    *,
    openhands: bool,
) -> ToolParts:
    if openhands:
        _check_bytes(tool)
    if isinstance(tool.executor, FunctionCall):
        return parts_of_function(tool, module, statements, names_in_use, openhands=openhands)
    if type(tool) is ToolDefinition:
        return parts_of_made(tool, module, statements, names_in_use, openhands=openhands)
    return parts_of_class(tool, module, statements, openhands=openhands)


def _check_bytes(tool: AnyTool) -> None:
    """Check that *tool* will get bytes, not base64, as its arguments in the OpenHands SDK.

    There, pydantic decodes the arguments, so the classes of the user must declare base64.

    Raises:
        ExportError: If a class of the user does not declare that its bytes are sent as base64.
    """
    # The action of a function is written with its configuration
    written = tool.action_type if isinstance(tool.executor, FunctionCall) else None
    kinds = [kind for kind in models_read_by_letters(tool.action_type) if kind is not written]
    if kinds:
        config = 'model_config = ConfigDict(val_json_bytes="base64", ser_json_bytes="base64")'
        names = ", ".join(dict.fromkeys(kind.__name__ for kind in kinds))
        msg = f"{tool.name}: the SDK would take base64 as the bytes: add `{config}` to {names}."
        raise ExportError(msg)


def _home_of(tool: Any) -> ModuleType:
    """Return the module that defines *tool*.

    Raises:
        ExportError: If *tool* is not a tool of the user's own code, or has no executor, or if its
            module is not loaded.
    """
    if not isinstance(tool, ToolDefinition):
        msg = f"A tool is exported, not {type(tool).__name__}: give the object that @tool made."
        raise ExportError(msg)
    if tool.source != "native":
        msg = (
            f"{tool.name} is a tool of an MCP server, so its code is not here: "
            "%mcp stubs writes a module that calls it."
        )
        raise ExportError(msg)
    if tool.executor is None:
        msg = f"{tool.name} has no executor: there is nothing to export that would work."
        raise ExportError(msg)
    kind: Any = type(tool)
    if isinstance(tool.executor, FunctionCall):
        kind = innermost(tool.executor.function)
    elif kind is ToolDefinition:
        kind = tool.action_type
    name = str(getattr(kind, "__module__", ""))
    if name.partition(".")[0] == _OURS:
        msg = f"{tool.name} comes with toolbench: it can be imported from {name}."
        raise ExportError(msg)
    shell = running_shell()
    if shell is not None and shell.user_module.__name__ == name:
        return shell.user_module  # type: ignore[no-any-return]  # IPython has no types for it
    module = sys.modules.get(name)
    if module is None:
        msg = f"{tool.name}: its module {name!r} is not loaded, so there is no code to read."
        raise ExportError(msg)
    return module

"""The pytest plugin: it collects files `*.checks.yaml`, and runs each check as a test.

pytest imports this module at each start, in every environment with toolbench. To start fast, it
imports other modules of toolbench only after it has found a file of checks.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from toolbench.checks.check import Check
    from toolbench.mcp.client import MCPClient
    from toolbench.mcp.config.server_entry import ServerEntry

_CONFIG, _REPLAY = "config", "replay"
_APPROVE, _YES = "--toolbench-approve", "--toolbench-yes"
_NO_SOURCE = (
    "Where is its server? There is no mcp.json beside the file of checks or in pytest's root folder. "
    "Name a configuration by --toolbench-config or a recording by --toolbench-replay, or in the "
    "settings of pytest by toolbench_config or toolbench_replay."
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add options for the servers of checks, and for which calls may run."""
    group = parser.getgroup("toolbench", "checks of tools, in files *.checks.yaml")
    config, replay = "the file with the servers of checks", "a recording, which answers for them"
    group.addoption("--toolbench-config", metavar="FILE", help=config)
    group.addoption("--toolbench-replay", metavar="FILE", help=replay)
    parser.addini("toolbench_config", f"{config}, as seen from the root folder", default="")
    parser.addini("toolbench_replay", f"{replay}, as seen from the root folder", default="")
    group.addoption(_APPROVE, action="store_true", help="approve the servers as they are now")
    yes = "approve in advance calls that may delete or overwrite something"
    group.addoption(_YES, action="store_true", help=yes)


def pytest_configure(config: pytest.Config) -> None:
    """Prepare the servers for this pytest session."""
    config.stash[_SERVERS] = Servers(config)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> "CheckModule | None":
    """Collect *file_path* if it is a file of checks."""
    if file_path.name.endswith(".checks.yaml"):
        return CheckModule.from_parent(parent, path=file_path)
    return None


class CheckModule(pytest.File):
    """A file of checks."""

    def collect(self) -> Iterator["CheckItem"]:
        """Yield a test for each check.

        Raises:
            CollectError: If the file cannot be used.
        """
        from toolbench.checks.checks import Checks  # noqa: PLC0415 - only if there is a file
        from toolbench.display.escape import on_one_line, visible  # noqa: PLC0415 - the same
        from toolbench.errors import CaseError  # noqa: PLC0415 - the same

        try:
            checks = Checks.read(self.path)
        except CaseError as error:
            raise self.CollectError(visible(str(error))) from None
        for check in checks:
            yield CheckItem.from_parent(self, name=on_one_line(check.name), check=check)


class CheckItem(pytest.Item):
    """A check as a test."""

    def __init__(self, *, check: "Check", **options: Any) -> None:
        """Make a test that runs *check*."""
        super().__init__(**options)
        self.check = check
        self._tools: Any = ()

    def setup(self) -> None:
        """Connect the server that the check names, unless it is already connected.

        Raises:
            Exception: If the server cannot be connected, or is not approved.
        """
        from toolbench.errors import ConsentError, ToolbenchError  # noqa: PLC0415 - as above

        if self.check.is_of_module:
            return
        try:
            self._tools = self.config.stash[_SERVERS].client_for(self.check, self.path.parent)
        except ConsentError as error:
            text = f"{error}\nFor pytest it is {_APPROVE}."
            raise _failure(text) from None
        except ToolbenchError as error:
            raise _failure(str(error)) from None

    def runtest(self) -> None:
        """Run the check without asking the user.

        Raises:
            Exception: If the check does not pass. The message names the differences.
            KeyboardInterrupt: If the check was interrupted.
        """
        from toolbench.checks.checks import Checks  # noqa: PLC0415 - as above

        is_agreed = self.config.getoption(_YES)
        report = Checks([self.check]).run(self._tools, confirm=not is_agreed, attended=False)
        if report.stopped is not None:
            raise KeyboardInterrupt
        for result in report.failures:
            text = f"{self.check.tool}: {result.error}"
            if result.state == "refused":
                text = f"{text} {_YES} approves in advance."
            raise _failure(text)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return the file of the check, and its name."""
        return self.path, None, self.name


class Servers:
    """The servers of a pytest session; each is connected when the first check needs it."""

    def __init__(self, config: pytest.Config) -> None:
        """Find the servers in the configuration or recording that *config* names.

        Raises:
            UsageError: If *config* names two sources.
        """
        self._config = config
        self._named = _named_source(config)
        self._clients: dict[Path, tuple[MCPClient, dict[str, ServerEntry]]] = {}

    def client_for(self, check: "Check", folder: Path) -> "MCPClient":
        """Return a client that is connected to the server of *check*.

        If the options of pytest name no configuration or recording, use the `mcp.json` in *folder*,
        the folder of the check's file, or in the root folder of pytest.

        Raises:
            ConsentError: If the server is not approved.
            ServerError: If there is no configuration or recording, or the server cannot be reached.
        """
        client, entries = self._source(folder)
        named = [name for name in entries if check.tool.startswith(f"{name}.")]
        if not named:
            # A tool alone may be of any of them
            named = [name for name, entry in entries.items() if entry.enabled]
        new = {name: entries[name] for name in named if name not in client.servers}
        if new:
            client.add({"mcpServers": new}, approve=self._config.getoption(_APPROVE))
        return client

    def _source(self, folder: Path) -> tuple["MCPClient", dict[str, "ServerEntry"]]:
        """Return the client for checks in *folder*, and its configured or recorded servers.

        Raises:
            ServerError: If there is no configuration or recording, or it cannot be used.
        """
        from toolbench.errors import ServerError  # noqa: PLC0415 - as above
        from toolbench.mcp.client import MCPClient  # noqa: PLC0415 - the same
        from toolbench.mcp.config.reader import read_config  # noqa: PLC0415 - the same
        from toolbench.mcp.recording.recording import Recording, replay_config  # noqa: PLC0415 - the same

        places = [folder / "mcp.json", self._config.rootpath / "mcp.json"]
        kind, path = self._named or (_CONFIG, next(filter(Path.is_file, places), None))
        if path is None:
            raise ServerError(_NO_SOURCE)
        if path not in self._clients:
            config: Any = str(path)
            if kind == _REPLAY:
                config = replay_config(Recording.read(path))
            client = MCPClient()
            self._config.add_cleanup(client.sync_close)
            self._clients[path] = client, read_config(config)
        return self._clients[path]


_SERVERS = pytest.StashKey[Servers]()


def _named_source(config: pytest.Config) -> tuple[str, Path] | None:
    """Return the kind and path of the file of servers in the command line or the settings.

    The command line takes precedence. Return None if neither names a file.

    Raises:
        UsageError: If the command line, or the settings, name two files.
    """
    for prefix, value_of, folder in (
        ("--toolbench-", config.getoption, config.invocation_params.dir),
        ("toolbench_", config.getini, config.rootpath),
    ):
        files = [(kind, value_of(f"{prefix}{kind}")) for kind in (_CONFIG, _REPLAY)]
        named = [(kind, folder / file) for kind, file in files if file]
        if len(named) > 1:
            msg = f"Give {prefix}{_CONFIG} or {prefix}{_REPLAY}, not both."
            raise pytest.UsageError(msg)
        if named:
            return named[0]
    return None


def _failure(text: str) -> BaseException:
    """Return a failure with *text* and no traceback, which would only show code of toolbench."""
    from toolbench.display.escape import visible  # noqa: PLC0415 - as above

    return pytest.fail.Exception(visible(text), pytrace=False)

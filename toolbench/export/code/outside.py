"""Find what code uses outside of itself, so that a result may differ elsewhere: files, the network, the time."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from toolbench.export.code.needed_statements import Needed
from toolbench.export.code.preparing_calls import is_memory, opens_database
from toolbench.export.code.statements import Statement

_FILES = "reads or writes files"
_DATABASE = "uses a database that is not in memory"
_NETWORK = "uses the network, a server or a model"
_PROGRAMS = "starts other programs"
_TIME = "asks for the date or the time"
_CHANCE = "uses random values"
_COMPUTER = "asks for facts about the computer"


def _below(*modules: str) -> re.Pattern[str]:
    return re.compile(rf"({'|'.join(map(re.escape, modules))})(\.|$)")


_PATHS = {
    re.compile(
        r"open$|(shutil|glob|tempfile)\.|os\.(open|listdir|scandir|walk|makedirs|mkdir|remove"
        r"|rename|replace|unlink|rmdir|stat|path\.(exists|is\w+|get\w+|abspath|realpath|expand\w+))$"
        r"|(numpy|joblib|torch)\.(load|save|dump|loadtxt|genfromtxt|fromfile)$|openpyxl\.load_"
    ): _FILES,
    _below(
        *(
            "requests",
            "httpx",
            "httpx2",
            "aiohttp",
            "urllib3",
            "urllib.request",
            "socket",
        ),
        *("http.client", "smtplib", "ftplib", "imaplib", "xmlrpc.client", "paramiko"),
        *(
            "boto3",
            "openai",
            "anthropic",
            "litellm",
            "websockets",
            "psycopg",
            "psycopg2",
        ),
        *("pymysql", "MySQLdb", "asyncpg", "pymongo", "redis", "grpc", "fastmcp"),
        *("toolbench.llm", "toolbench.agent", "toolbench.mcp"),
        *("toolbench.Agent", "toolbench.Conversation"),
    ): _NETWORK,
    _below(
        *("subprocess", "os.system", "os.popen", "pexpect", "toolbench.tools"),
        *("asyncio.create_subprocess_exec", "asyncio.create_subprocess_shell"),
    ): _PROGRAMS,
    re.compile(
        r"time\.(time|time_ns|monotonic|perf_counter|localtime|gmtime|ctime|strftime)$"
        r"|(datetime|pandas|pendulum|arrow)\.(.*\.)?(today|now|utcnow)$"
    ): _TIME,
    _below(
        *(
            "random",
            "secrets",
            "uuid.uuid1",
            "uuid.uuid4",
            "os.urandom",
            "numpy.random",
        ),
        "faker",
    ): _CHANCE,
    _below(
        *(
            "os.environ",
            "os.getenv",
            "os.getpid",
            "os.getcwd",
            "os.cpu_count",
            "os.uname",
        ),
        *("platform", "getpass.getuser", "sys.argv", "pathlib.Path.home"),
        *("pathlib.Path.cwd", "psutil"),
    ): _COMPUTER,
}
"""What code does that uses a name, by the whole name; the keys match its beginning."""
_METHODS = re.compile(
    r"(read|write)_(text|bytes)|open|iterdir|r?glob|exists|is_(file|dir)|mkdir|unlink|stat"
    r"|touch|(read|scan)_(csv|excel|parquet|json|table|feather|pickle|sql\w*|fwf|hdf|orc|ndjson|ipc)"
    r"|to_(csv|excel|parquet|pickle|sql|feather|hdf)"
)
"""The names of methods that read or write files, in pathlib and in libraries of tables."""


class Outside(NamedTuple):
    """What code uses outside of itself.

    Attributes:
        files: The files that it names, as it names them; each of them is there now.
        uses: What it does, as the ends of sentences that begin with its name.
    """

    files: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()

    @property
    def has_files(self) -> bool:
        """Whether the code uses files."""
        return bool(self.files) or not {_FILES, _DATABASE}.isdisjoint(self.uses)


def outside_of(needed: Needed) -> Outside:
    """Return what the *needed* statements use outside of themselves. It is read in the code; nothing is run.

    A database in memory is not outside. What a library does by itself is not known.
    """
    modules = dict[str, str]()
    code = [needed.statements[place] for place in sorted(needed.places)]
    for statement in code:
        modules |= _imported(statement.node)
    files, uses = dict[str, None](), dict[str, None]()
    for place in sorted(needed.places):
        statement = needed.statements[place]
        if statement.is_import:
            continue
        files |= dict.fromkeys(files_named_in(statement.node))
        uses |= dict.fromkeys(_uses(statement, modules, needed.names))
        if opens_database(statement.node) and not is_in_memory(needed, place):
            uses[_DATABASE] = None
    # Their names say more
    if files:
        uses = {use: None for use in uses if use not in (_FILES, _DATABASE)}
    return Outside(tuple(files), tuple(uses))


def files_named_in(node: ast.AST) -> Iterator[str]:
    """Yield the texts in *node* that are paths of files which are there now."""
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            text = part.value
            if 3 < len(text) < 200 and _is_file(text):
                yield text


def _is_file(text: str) -> bool:
    try:
        return "\n" not in text and Path(text).is_file()
    except (OSError, ValueError):
        return False


def _imported(node: ast.AST) -> dict[str, str]:
    """Return the whole name of what each import in *node*, at any depth, gives a name to."""
    names = dict[str, str]()
    for part in ast.walk(node):
        if isinstance(part, ast.Import):
            for alias in part.names:
                top = alias.name.partition(".")[0]
                names[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(part, ast.ImportFrom) and not part.level:
            for alias in part.names:
                names[alias.asname or alias.name] = f"{part.module}.{alias.name}"
    return names


def _uses(statement: Statement, modules: dict[str, str], own: frozenset[str]) -> Iterator[str]:
    known = {"open": "open"} if "open" not in own else {}
    for part in ast.walk(statement.node):
        if isinstance(part, ast.Name | ast.Attribute):
            name = _whole_name(part, known | modules)
            yield from (use for path, use in _PATHS.items() if path.match(name))
        method = getattr(part.func, "attr", "") if isinstance(part, ast.Call) else ""
        if _METHODS.fullmatch(method):
            yield _FILES


def _whole_name(node: ast.expr, modules: dict[str, str]) -> str:
    """Return the name of *node* with the module from which it is imported; empty if it is not imported."""
    names = []
    part = node
    while isinstance(part, ast.Attribute):
        names.append(part.attr)
        part = part.value
    if not isinstance(part, ast.Name) or part.id not in modules:
        return ""
    return ".".join([modules[part.id], *reversed(names)])


def is_in_memory(needed: Needed, place: int) -> bool:
    """Tell whether the statement at *place* uses a database that is in memory, and so is new each time."""
    todo, visited = [place], set[int]()
    while todo:
        visited.add(place := todo.pop())
        statement = needed.statements[place]
        if is_memory(statement.code):
            return True
        todo += [
            earlier
            for earlier in needed.places - visited
            if earlier < place and needed.statements[earlier].names.gives & statement.names.now
        ]
    return False

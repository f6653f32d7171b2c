"""Make small defects in a copy of the package, one at a time, and name those that no test notices.

    python scripts/mutants.py                       # 60 mutants, drawn over all rooms by their size
    python scripts/mutants.py widgets -n 200        # of one room, as when it is written anew
    python scripts/mutants.py widgets -n 200 --seed 7     # the same ones again
    python scripts/mutants.py -- -m "not long"      # with the slow tests too: the rest is pytest's

A room is a folder or a module of the package. A mutant is one place of a function that is changed:
a comparison, `and`, the condition of an `if`, a limit, a statement, what is returned. All mutants
are in the copy at once, each behind a switch. One process runs the tests of the room, and of those
that import it: first without a mutant, to see which tests execute which mutant, and then, for each
mutant, those tests, until one fails. A mutant that survives shows a line that tests execute and
none looks at, or a line that changes nothing: then it can go. The checkout is not changed.
"""

# ruff: noqa: T201, S603, S311 - a script talks to its terminal, runs pytest, and draws

import argparse
import ast
import importlib
import itertools
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "toolbench"
NOT_COPIED = (".git", ".venv", ".peers", "*_cache", "__pycache__", "node_modules", "build", "dist")
MARKERS = "not slow and not long"
# Of one mutant, after which no other test begins
CPU_SECONDS = 30.0
SECONDS = 120.0
# Of one test, beside what it took without a mutant
TEST_SECONDS = 20.0
# The product of this and `PATIENCE` of tests/patience.py: a mutant's tests wait for what never comes
PATIENCE = "0.2"
# Without a sign of the tests' process: a mutant has stopped it
SILENCE = 900.0
MEMORY = 6 << 30
FOLDER = "TOOLBENCH_MUTANTS"
ACTIVE = "TOOLBENCH_MUTANT"

SWITCH = f'''"""Which mutant is on, here and in the processes that tests start; which were executed."""
import builtins
import os

active = int(os.environ.get("{ACTIVE}") or 0)
executed = set()


def _on(number):
    executed.add(number)
    return number == active


builtins._on = _on
'''

OPPOSITES = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
DROPPED = "dropped statement"
Change = tuple[str, ast.expr | ast.stmt, str]
"""The kind, what is replaced, and the text in its place."""


@dataclass(frozen=True)
class Mutant:
    """A place in a file, as bytes from *begin* to *end*, and what is written there instead."""

    file: str
    line: int
    kind: str
    begin: int
    end: int
    before: str
    after: str

    def overlaps(self, other: "Mutant") -> bool:
        """Tell whether both change the same text."""
        return self.file == other.file and self.begin < other.end and other.begin < self.end

    def switchable(self, number: int) -> str:
        """Return the text that does what was there before, unless mutant *number* is on."""
        if self.kind == DROPPED:
            return f"if not _on({number}): {self.before}"
        return f"({self.after} if _on({number}) else ({self.before}))"

    def __str__(self) -> str:
        """Return the place and the change on one line."""
        before, after = (" ".join(text.split()) for text in (self.before, self.after))
        return f"{self.file}:{self.line}: {self.kind}: {before}  ->  {after or 'nothing'}"


class Source:
    """The text of a file, and the mutants of its functions."""

    def __init__(self, source: bytes, file: str) -> None:
        """Read *source*, the content of *file*."""
        self._source, self._file = source, file
        self._tree = ast.parse(source)
        self._starts = [0, *itertools.accumulate(map(len, source.splitlines(keepends=True)))]
        self._limits = {
            target.id
            for node in self._tree.body
            if isinstance(node, ast.Assign) and is_limit(node.value)
            for target in node.targets
            if isinstance(target, ast.Name)
        }

    def mutants(self) -> list[Mutant]:
        """Return all mutants; some are inside others."""
        nodes = list(nodes_of_functions(self._tree))
        changes = itertools.chain.from_iterable(
            (*self._of_expression(node), *self._of_statement(node), *self._of_limit(node))
            for node in nodes
        )
        return [
            Mutant(self._file, node.lineno, kind, *self._span(node), self._text(node), after)
            for kind, node, after in changes
        ]

    def _span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        begin = self._starts[node.lineno - 1] + node.col_offset
        return begin, self._starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)

    def _text(self, node: ast.expr | ast.stmt) -> str:
        begin, end = self._span(node)
        return self._source[begin:end].decode()

    def _of_expression(self, node: ast.AST) -> Iterator[Change]:
        text = self._text
        match node:
            case ast.Compare(left=left, ops=[operator], comparators=[right]):
                after = f"(({text(left)}) {OPPOSITES[type(operator)]} ({text(right)}))"
                yield "compare", node, after
            case ast.BoolOp(op=operator, values=values):
                other = " or " if isinstance(operator, ast.And) else " and "
                yield "and/or", node, f"({other.join(f'({text(value)})' for value in values)})"
            case ast.IfExp(test=test, body=body, orelse=other):
                after = f"(({text(other)}) if ({text(test)}) else ({text(body)}))"
                yield "swapped conditional expression", node, after

    def _of_statement(self, node: ast.AST) -> Iterator[Change]:
        match node:
            case ast.If(test=ast.Compare() | ast.BoolOp()):
                # The test is changed by itself
                pass
            case ast.If(test=test):
                yield "negated if", test, f"(not ({self._text(test)}))"
            case ast.Return(value=ast.Constant() | None):
                pass
            case ast.Return(value=ast.expr() as value):
                yield "return None", value, "None"
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Call(ast.Name("super"))))):
                pass
            case (
                ast.Expr(value=ast.Call() | ast.Await())
                | ast.AugAssign()
                | ast.Assign(targets=[ast.Attribute() | ast.Subscript(), *_])
            ):
                yield DROPPED, node, ""

    def _of_limit(self, node: ast.AST) -> Iterator[Change]:
        if isinstance(node, ast.Name) and node.id in self._limits:
            yield "limit + 1", node, f"({node.id} + 1)"
        if isinstance(node, ast.Compare | ast.BinOp | ast.Slice | ast.Call):
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.Constant) and is_limit(child):
                    yield "limit + 1", child, f"({child.value} + 1)"


def nodes_of_functions(node: ast.AST, *, is_inside: bool = False) -> Iterator[ast.AST]:
    """Yield what functions below *node* execute: no decorators, defaults, annotations, patterns.

    Nor the parts of f-strings: their places in the file are not known before Python 3.12.
    """
    if is_inside:
        yield node
    match node:
        case ast.FunctionDef(body=children) | ast.AsyncFunctionDef(body=children):
            is_inside = True
        case ast.AnnAssign(value=value):
            children = [value] if value else []
        case _:
            children = list(ast.iter_child_nodes(node))
    for child in children:
        if not isinstance(child, ast.pattern | ast.arguments | ast.JoinedStr):
            yield from nodes_of_functions(child, is_inside=is_inside)


def is_limit(node: ast.AST) -> bool:
    """Tell whether *node* is a number that is written down, such as 12."""
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value >= 1


def files_of(room: str | None) -> list[Path]:
    """Return the modules of *room*, or of all rooms."""
    paths = sorted((ROOT / PACKAGE).rglob("*.py"))
    return [path for path in paths if room in (None, room_of(path))]


def room_of(path: Path) -> str:
    """Return the folder or module of the package that *path* is in."""
    return path.relative_to(ROOT / PACKAGE).parts[0].removesuffix(".py")


def draw(mutants: list[Mutant], count: int, seed: int) -> list[Mutant]:
    """Return *count* of *mutants*, as many of each kind, none inside another."""
    generator = random.Random(seed)
    kinds = sorted({mutant.kind for mutant in mutants})
    decks = [[mutant for mutant in mutants if mutant.kind == kind] for kind in kinds]
    for deck in decks:
        generator.shuffle(deck)
    mixed = (mutant for hand in itertools.zip_longest(*decks) for mutant in hand if mutant)
    drawn: list[Mutant] = []
    for mutant in mixed:
        if len(drawn) < count and not any(map(mutant.overlaps, drawn)):
            drawn.append(mutant)
    return sorted(drawn, key=lambda mutant: (mutant.file, mutant.begin))


def copy_with(mutants: list[Mutant], place: Path) -> None:
    """Copy the checkout to *place*, with all *mutants* in it, each behind its switch."""
    shutil.copytree(ROOT, place, ignore=shutil.ignore_patterns(*NOT_COPIED), symlinks=True)
    # Without what lies beside the checkout, such as servers that misbehave, tests are skipped
    beside = ROOT.parent / "shared"
    if beside.is_dir():
        (place.parent / "shared").symlink_to(beside)
    # From the last place of a file to its first: what stands before keeps its place
    for number, mutant in reversed(list(enumerate(mutants, 1))):
        path = place / mutant.file
        source = path.read_bytes()
        switch = mutant.switchable(number).encode()
        path.write_bytes(source[: mutant.begin] + switch + source[mutant.end :])
    package = place / PACKAGE
    (package / "_mutants.py").write_text(SWITCH)
    first = package / "__init__.py"
    lines = first.read_text("utf-8").splitlines(keepends=True)
    begin = next(
        node.lineno - 1 for node in ast.parse("".join(lines)).body if not isinstance(node, ast.Expr)
    )
    lines.insert(begin, f"import {PACKAGE}._mutants\n")
    first.write_text("".join(lines), "utf-8")


def tests_of(room: str | None) -> list[str]:
    """Return the tests of *room* and of all rooms that import it, directly or through others."""
    imports = {room_of(path): set[str]() for path in files_of(None)}
    for path in files_of(None):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PACKAGE + "."):
                imports[room_of(path)].add((node.module or "").split(".")[1])
    reaching = {room} if room else set(imports)
    while more := {name for name in imports if imports[name] & reaching} - reaching:
        reaching |= more
    others = {f"test_{name}" for name in imports if name not in reaching}
    folder = ROOT / "tests"
    tests = [path for path in sorted(folder.glob("test_*")) if path.stem not in others]
    tests += folder.glob("promised")
    return [f"tests/{path.name}" for path in tests]


def main() -> int:
    """Draw mutants, run the tests, and print what survived."""
    options, for_pytest = arguments()
    sites = [
        mutant
        for path in files_of(options.room)
        for mutant in Source(path.read_bytes(), path.relative_to(ROOT).as_posix()).mutants()
    ]
    mutants = draw(sites, options.count, options.seed)
    where = options.room or "all rooms"
    print(f"{len(mutants)} mutants of {len(sites)} in {where}, --seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="mutants-") as name:
        folder = Path(name)
        copy_with(mutants, folder / "copy")
        (folder / "mutants.json").write_text(json.dumps([asdict(mutant) for mutant in mutants]))
        words = [*(options.tests or tests_of(options.room)), "-m", MARKERS, *for_pytest]
        while not is_finished(folder, len(mutants)):
            known = (folder / "journal").stat().st_size if (folder / "journal").exists() else 0
            run_pytest(words, folder)
            if (folder / "journal").stat().st_size == known:
                print((folder / "log").read_text(errors="replace")[-4000:])
                return 1
        report(mutants, records(folder))
    return 0


def is_finished(folder: Path, count: int) -> bool:
    """Tell whether each mutant has been tried: one that ended the process is not tried again."""
    return sum("begins" in record for record in records(folder)) == count


def run_pytest(words: list[str], folder: Path) -> None:
    """Run the tests in the copy; a process that says nothing for long is ended."""
    copy = folder / "copy"
    journal = folder / "journal"
    journal.touch()
    path = [str(copy), str(copy / "scripts"), os.environ.get("PYTHONPATH", "")]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, path)),
        "TOOLBENCH_PATIENCE": PATIENCE,
        FOLDER: str(folder),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "mutants", "-p", "no:cacheprovider"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [*command, "--tb=no", *words], cwd=copy, env=environment, stdout=log, stderr=log
        )
    while process.poll() is None:
        time.sleep(1)
        if time.time() - journal.stat().st_mtime > SILENCE:
            process.kill()


def records(folder: Path) -> list[dict]:
    """Return what the tests' processes have written so far, a record per line."""
    journal = folder / "journal"
    lines = journal.read_text().splitlines() if journal.exists() else []
    return [json.loads(line) for line in lines]


def report(mutants: list[Mutant], journal: list[dict]) -> None:
    """Print the mutants that survived, those that no test executes, and how many of each."""
    results = {record["mutant"]: record for record in journal if "mutant" in record}
    counts: Counter[str] = Counter()
    for number, mutant in enumerate(mutants, 1):
        # Without a result, it ended the process of the tests, which nobody overlooks
        result = results.get(number, {"killer": "the end of the process"})
        if result["killer"]:
            counts["killed"] += 1
        elif result["executed"]:
            counts["survived"] += 1
            print(f"survived {result['ran']} of {result['executed']} tests: {mutant}")
        else:
            counts["not reached"] += 1
            print(f"not reached: {mutant}")
    failed = sum(not record["passed"] for record in journal if "done" in record)
    if failed:
        print(f"({failed} tests fail in the copy without a mutant, and were left out)")
    print(", ".join(f"{counts[name]} {name}" for name in ("killed", "survived", "not reached")))


class Trial:
    """A plugin of pytest: runs each test without a mutant, then the tests of each mutant."""

    def __init__(self, folder: Path) -> None:
        """Go on after what an earlier process has written in *folder*."""
        self._folder = folder
        self._switch = importlib.import_module(f"{PACKAGE}._mutants")
        written = json.loads((folder / "mutants.json").read_text())
        self._mutants = [Mutant(**fields) for fields in written]
        self._failures: set[str] = set()

    def _write(self, **record: object) -> None:
        with (self._folder / "journal").open("a") as journal:
            journal.write(json.dumps(record) + "\n")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember which tests fail."""
        if report.failed:
            self._failures.add(report.nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the tests in the place of pytest's own loop."""
        journal = records(self._folder)
        begun = {record["test"] for record in journal if "test" in record}
        items = [item for item in session.items if item.nodeid not in begun]
        for item, following in itertools.pairwise([*items, None]):
            if item:
                self._run_without_a_mutant(item, following)
        tried = {record["begins"] for record in journal if "begins" in record}
        for number in range(1, len(self._mutants) + 1):
            if number not in tried:
                self._write(begins=number)
                self._write(mutant=number, **self._try(number, session.items))
        return True

    def _run_without_a_mutant(self, item: pytest.Item, following: pytest.Item | None) -> None:
        self._write(test=item.nodeid)
        self._switch.executed.clear()
        begin = cpu_seconds(), time.monotonic()
        passed = self._passes(item, following, 0, SILENCE)
        cpu, seconds = cpu_seconds() - begin[0], time.monotonic() - begin[1]
        executed = sorted(self._switch.executed)
        self._write(done=item.nodeid, passed=passed, cpu=cpu, seconds=seconds, executed=executed)

    def _try(self, number: int, items: list[pytest.Item]) -> dict[str, object]:
        """Run the tests that execute mutant *number*, until one fails or it takes too long."""
        known = {
            record["done"]: record
            for record in records(self._folder)
            if "done" in record and record["passed"] and number in record["executed"]
        }
        tests = in_order([item for item in items if item.nodeid in known], known)
        room = room_of(ROOT / self._mutants[number - 1].file)
        # The room's own tests first: they know best
        tests.sort(key=lambda item: not item.nodeid.startswith(f"tests/test_{room}"))
        clear_caches()
        end = cpu_seconds() + CPU_SECONDS, time.monotonic() + SECONDS
        result = {"executed": len(tests), "ran": 0, "killer": None}
        for item, following in itertools.pairwise([*tests, None]):
            if not item:
                break
            is_last = cpu_seconds() > end[0] or time.monotonic() > end[1]
            seconds = TEST_SECONDS + known[item.nodeid]["seconds"]
            result["ran"] += 1
            if not self._passes(item, None if is_last else following, number, seconds):
                clear_caches()
                # One that fails now without the mutant too says nothing of it
                if self._passes(item, None, 0, SILENCE):
                    return {**result, "killer": item.nodeid}
                clear_caches()
            if is_last:
                break
        return result

    def _passes(
        self, item: pytest.Item, following: pytest.Item | None, mutant: int, seconds: float
    ) -> bool:
        """Run *item* with *mutant* on, and tell whether it passed within *seconds*."""
        self._switch.active = mutant
        os.environ[ACTIVE] = str(mutant)
        self._failures.discard(item.nodeid)
        # It may have run before: with this it begins anew
        item._initrequest()  # type: ignore[attr-defined]
        signal.signal(signal.SIGALRM, stop_test)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
        except BaseException as error:  # noqa: BLE001 - a mutant may well interrupt pytest itself
            print(f"{item.nodeid}: {error!r}")
            return False
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        return item.nodeid not in self._failures


def in_order(tests: list[pytest.Item], known: dict[str, dict]) -> list[pytest.Item]:
    """Return *tests*, those of one file together, the cheapest file and test first."""
    costs: Counter[str] = Counter()
    for test in tests:
        costs[str(test.path)] += known[test.nodeid]["cpu"]
    return sorted(
        tests, key=lambda test: (costs[str(test.path)], test.path, known[test.nodeid]["cpu"])
    )


class TooLate(BaseException):
    """A test took too long; no `except Exception` of the product catches it."""


def stop_test(*_: object) -> None:
    """End a test that waits, or goes round in circles, since a mutant is on."""
    raise TooLate


def cpu_seconds() -> float:
    """Return how long this process and the children that it has waited for have computed."""
    return sum(os.times()[:4])


def clear_caches() -> None:
    """Forget what functions and methods of the package remember: it was found with another mutant."""
    modules = [module for name, module in sys.modules.items() if name.startswith(PACKAGE)]
    values = [value for module in modules for value in vars(module).values()]
    members = [vars(value).values() for value in values if isinstance(value, type)]
    for value in itertools.chain(values, *members):
        clear = getattr(getattr(value, "__func__", value), "cache_clear", None)
        if callable(clear):
            clear()


def pytest_configure(config: pytest.Config) -> None:
    """Take part in a run of pytest that `main` has started."""
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    config.pluginmanager.register(Trial(Path(os.environ[FOLDER])))


def arguments() -> tuple[argparse.Namespace, list[str]]:
    """Read the command line; what stands after `--` is for pytest."""
    words = [*sys.argv[1:], "--"]
    end = words.index("--")
    ours, for_pytest = words[:end], words[end + 1 : -1]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    rooms = sorted({room_of(path) for path in files_of(None)})
    parser.add_argument("room", nargs="?", choices=rooms, metavar="ROOM")
    parser.add_argument("-n", dest="count", type=int, default=60, help="so many mutants")
    parser.add_argument(
        "--tests", nargs="+", metavar="PATH", help="in the place of all that may matter"
    )
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    return parser.parse_args(ours), for_pytest


if __name__ == "__main__":
    sys.exit(main())

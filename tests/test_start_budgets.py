"""What a start may cost, as counts that do not depend on the machine: modules, packages, bytes.

`BUDGETS` holds the most of each, about 5 % over what it is. `start_counts.json` holds what each
consists of, so that a failure can name what came; how long it takes is measured in bench/bench_start.py.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from importlib import metadata
from pathlib import Path
from zipfile import ZipFile

import pytest
from documents import ROOT
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

BUDGETS = {
    "import toolbench: modules of ours": 2,
    "import toolbench: all modules": 13,
    # More than a kernel with ipywidgets has
    "%load_ext: modules of ours": 150,
    "%load_ext: all modules": 258,
    # More than are there before; it shows its tool in the formats of models, so it loads them
    "the first panel: modules of ours": 62,
    "the first panel: all modules": 180,
    "the first %mcp connect: modules of ours": 71,
    "the first %mcp connect: all modules": 994,
    "toolbench --help: modules of ours": 53,
    "toolbench --help: all modules": 455,
    "our wheel: bytes": 1_857_000,
    # Without an extra, and without ourselves
    "pip install: packages": 89,
    "pip install: bytes": 143_000_000,
}
RECORD = Path(__file__).with_name("start_counts.json")
# As in test_counts.py
RENEW = "TOOLBENCH_COUNTS"
IMPORT = "import toolbench\nseen('import toolbench')"
NOTEBOOK = f"""
import ipykernel.kernelapp, ipykernel.ipkernel, ipykernel.zmqshell, ipywidgets
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
seen("")
shell.run_line_magic("load_ext", "toolbench")
seen("%load_ext")
from toolbench import bench, tool
def echo(text: str, count: int = 1) -> str:
    "Return the text."
    return text * count
panel = bench(tool(echo))
seen("the first panel")
shell.run_line_magic("mcp", "connect example -- {sys.executable} -m toolbench.mcp.example")
assert shell.magics_manager.registry["MCPMagics"].client.servers["example"].tools
seen("the first %mcp connect")
"""
HELP = """
import sys
from toolbench.cli import main
sys.argv = ["toolbench", "--help"]
try:
    main()
except SystemExit as end:
    assert not end.code
seen("toolbench --help")
"""
SEEN = """
import json, sys
before, steps = set(sys.modules), {}
def seen(step):
    steps[step] = sorted(set(sys.modules) - before)
    before.update(sys.modules)
"""

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or sys.version_info[:2] != (3, 11),
    reason="counted on Linux and Python 3.11: others have other modules and files",
)


def check(step: str, counts: dict[str, int], parts: dict[str, int]) -> None:
    """Compare the *counts* of a *step* with their budgets; *parts* is what they consist of."""
    record = json.loads(RECORD.read_text()) if RECORD.is_file() else {}
    if os.environ.get(RENEW) == "renew":
        text = json.dumps({**record, step: parts}, indent=1, sort_keys=True)
        RECORD.write_text(f"{text}\n")
        return
    over = [
        f"{step}: {what} are {count:,}, and at most {BUDGETS[f'{step}: {what}']:,} may be."
        for what, count in counts.items()
        if count > BUDGETS[f"{step}: {what}"]
    ]
    if not over:
        return
    more = Counter(parts)
    more.subtract(record.get(step, {}))
    came = ", ".join(f"{name} ({count:,})" for name, count in more.most_common() if count > 0)
    pytest.fail(
        f"{' '.join(over)} More than on record: {came}. If that is worth it, raise the budget and renew "
        f"the record: {RENEW}=renew python -m pytest tests/test_start_budgets.py"
    )


@pytest.mark.slow
@pytest.mark.parametrize("program", [IMPORT, NOTEBOOK, HELP], ids=["import", "notebook", "help"])
def test_modules(program):
    """What each step loads in a fresh process; of others' packages the record has the numbers."""
    command = [sys.executable, "-c", f"{SEEN}{program}\nprint('\\n' + json.dumps(steps))"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for step, modules in json.loads(done.stdout.splitlines()[-1]).items():
        if step:
            ours = [name for name in modules if name.partition(".")[0] == "toolbench"]
            others = Counter(name.partition(".")[0] for name in set(modules) - set(ours))
            counts = {"modules of ours": len(ours), "all modules": len(modules)}
            check(step, counts, {**others, **Counter(ours)})


@pytest.mark.slow
def test_the_wheel(tmp_path):
    """What is downloaded of ours."""
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, capture_output=True, check=True)
    [wheel] = tmp_path.iterdir()
    parts = Counter()
    with ZipFile(wheel) as archive:
        for file in archive.infolist():
            parts["/".join(file.filename.split("/")[:2])] += file.compress_size
    check("our wheel", {"bytes": wheel.stat().st_size}, parts)


def required(name: str, extras: frozenset[str], found: set[tuple[str, frozenset[str]]]) -> None:
    """Add to *found* what a distribution with its *extras* requires here, and what that requires."""
    for line in metadata.requires(name) or ():
        needed = Requirement(line)
        asked = canonicalize_name(needed.name), frozenset(needed.extras)
        marker = needed.marker
        wanted = marker is None or any(marker.evaluate({"extra": e}) for e in extras or {""})
        if wanted and asked not in found:
            found.add(asked)
            required(*asked, found)


def test_what_pip_installs():
    """The packages that ours requires, and theirs, with the bytes of their files."""
    found = set()
    required("jupyter-toolbench", frozenset(), found)
    sizes = {name: sum(file.size or 0 for file in metadata.files(name) or ()) for name, _ in found}
    counts = {"packages": len(sizes), "bytes": sum(sizes.values())}
    check("pip install", counts, sizes)

"""Runs the fast tests of the rooms that changed: what you want every minute while you work.

python scripts/quick.py                 # since the upstream of this branch, and what is not committed
python scripts/quick.py --base HEAD~3   # since another commit

A changed file of `toolbench/runs` means `tests/test_runs`, one of `toolbench/mcp/recording` means
`tests/test_mcp/test_recording` where there is such a folder, and a changed test file means itself.
At most three cases of each parametrised test run.
"""
# ruff: noqa: T201, S603 - a script talks to its terminal, and runs git and pytest

import argparse
import subprocess
import sys
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[1]
SLOW_SUITES = ("browser", "peers", "built_site")
"""Folders of tests with targets of their own: `make browser`, `make peers-test`, `make site-test`."""
NO_TESTS = 5
"""What pytest exits with if it left out all tests."""


def main(base: str) -> int:
    """Run the tests of what changed since *base*; return pytest's exit code."""
    tests = sorted({test for name in changed_files(base) for test in tests_of(PurePosixPath(name))})
    if not tests:
        print(f"No file of a room and no test changed since {base}.")
        return 0
    print("Tests of what changed:", *tests, flush=True)
    pytest = [sys.executable, "-m", "pytest", "-q", "-n", "2", "--dist", "worksteal"]
    options = ["-m", "not slow and not long", "--cases", "3"]
    code = subprocess.run([*pytest, *tests, *options], cwd=ROOT, check=False).returncode
    if code == NO_TESTS:
        print("They are slow: `make slow` runs them.")
        return 0
    return code


def changed_files(base: str) -> list[str]:
    """Return the paths of the files that differ from *base*, or that git does not know yet."""
    changed = git("diff", "--name-only", base)
    unknown = git("ls-files", "--others", "--exclude-standard")
    return [*changed, *unknown]


def tests_of(path: PurePosixPath) -> list[str]:
    """Return the files or folders of tests for the changed file *path*; none if it is no code."""
    parts = path.with_suffix("").parts
    if path.suffix != ".py" or len(parts) < 2:
        return []
    if parts[0] == "tests":
        is_test = path.name.startswith("test_")
        if parts[1] in SLOW_SUITES or (len(parts) == 2 and not is_test):
            return []
        # What a folder of tests shares means the folder
        target = path if is_test else path.parent
        return [str(target)] if (ROOT / target).exists() else []
    if parts[0] != "toolbench":
        return []
    # toolbench/a/b/c.py: tests/test_a/test_b, if it is a folder, or else tests/test_a
    rooms = [f"test_{part}" for part in parts[1:]]
    for depth in range(max(1, len(rooms) - 1), 0, -1):
        folder = PurePosixPath("tests", *rooms[:depth])
        if (ROOT / folder).is_dir():
            return [str(folder)]
    file = PurePosixPath("tests", rooms[0]).with_suffix(".py")
    return [str(file)] if (ROOT / file).exists() else []


def git(*words: str) -> list[str]:
    """Return the lines that git prints."""
    command = ["git", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def upstream() -> str:
    """Return where this branch left its upstream; the last commit, if it has none."""
    try:
        return git("merge-base", "HEAD", "@{upstream}")[0]
    except subprocess.CalledProcessError:
        return "HEAD"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--base", help="a commit; the upstream of this branch if left out")
    sys.exit(main(parser.parse_args().base or upstream()))

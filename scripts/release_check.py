"""Checks what would be published: builds it, reads it, and uses it as a stranger does, on each Python.

`make release-check` calls it. For each Python that is promised, and for the lowest and the highest versions that
pyproject.toml allows, a clean environment gets the wheel alone; `scripts/release_use.py` then uses it there,
in an empty folder, and mypy reads `scripts/release_example.py`, which is a user's code.
"""
# ruff: noqa: T201, S603 - a script talks to its terminal, and runs what it installed

import argparse
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

from other_pythons import found

ROOT = Path(__file__).resolve().parents[1]
UV = ROOT / ".venv" / ".uv" / "bin" / "uv"
WORK = ROOT / "build" / "release"
DIST = WORK / "dist"
TOOLS = ("build", "twine", "hatchling")
PYTHONS = ("3.11", "3.12", "3.13")
RESOLUTIONS = ("highest", "lowest-direct")
USE = ROOT / "scripts" / "release_use.py"
EXAMPLE = ROOT / "scripts" / "release_example.py"
NEEDED = (
    "toolbench/py.typed",
    "toolbench/widgets/frontend/module.js",
    "toolbench/widgets/frontend/editor.js",
    "toolbench/widgets/frontend/style.css",
)
FORBIDDEN = ("tests", "bench", "notebooks", "scripts", "frontend", ".venv", "build")


def main(pythons: list[str]) -> int:
    """Check everything; return 1 if a Python is missing."""
    shutil.rmtree(WORK, ignore_errors=True)
    wheel = built()
    problems = [*wheel_problems(wheel), *sdist_problems(next(DIST.glob("*.tar.gz")))]
    if problems:
        sys.exit("\n".join(problems))
    missing = []
    for version in pythons:
        python = found(version)
        if python is None:
            missing.append(version)
            continue
        for resolution in RESOLUTIONS:
            print(f"Python {version}, {resolution} versions", flush=True)
            use(wheel, python, f"{version}-{resolution}", resolution)
    for version in missing:
        print(f"Python {version} was not found, and NOTHING WAS CHECKED on it.")
    return 1 if missing else 0


def built() -> Path:
    """Build the sdist and, from it, the wheel; check their metadata; return the wheel."""
    tools = WORK / "tools"
    python = environment(tools, sys.executable)
    uv("pip", "install", "--python", python, *TOOLS)
    run(python, "-m", "build", "--no-isolation", "--outdir", str(DIST), str(ROOT))
    packages = sorted(str(path) for path in DIST.iterdir())
    run(python, "-m", "twine", "check", "--strict", *packages)
    return next(DIST.glob("*.whl"))


def wheel_problems(wheel: Path) -> list[str]:
    """Return what is wrong with the contents of *wheel*."""
    names = set(zipfile.ZipFile(wheel).namelist())
    modules = (ROOT / "toolbench").rglob("*.py")
    expected = {path.relative_to(ROOT).as_posix() for path in modules} | {*NEEDED}
    version = wheel.name.split("-")[1]
    foreign = {
        name
        for name in names
        if not name.startswith(("toolbench/", f"jupyter_toolbench-{version}.dist-info"))
    }
    return [
        *(f"The wheel has no {name}." for name in sorted(expected - names)),
        *(f"The wheel has {name}, which is not the package's." for name in foreign),
    ]


def sdist_problems(sdist: Path) -> list[str]:
    """Return what is wrong with the contents of *sdist*."""
    with tarfile.open(sdist) as archive:
        names = [name.partition("/")[2] for name in archive.getnames()]
    return [
        f"The sdist has {name}, which belongs to the repository alone."
        for name in names
        if name.partition("/")[0] in FORBIDDEN
    ]


def use(wheel: Path, python: str, name: str, resolution: str) -> None:
    """Install *wheel* into a clean environment, and use it in an empty folder."""
    ours = environment(WORK / name, python)
    uv("pip", "install", "--python", ours, "--resolution", resolution, str(wheel))
    uv("pip", "install", "--python", ours, "mypy")
    folder = WORK / f"{name}-folder"
    folder.mkdir()
    for script in (USE, EXAMPLE):
        shutil.copy(script, folder)
    version = wheel.name.split("-")[1]
    run(ours, "-W", "ignore", USE.name, version, cwd=folder)
    run(ours, "-m", "mypy", "--strict", EXAMPLE.name, cwd=folder)


def environment(folder: Path, python: str) -> str:
    """Make an empty environment in *folder*, and return its interpreter."""
    uv("venv", "--clear", "--python", python, str(folder))
    return str(folder / "bin" / "python")


def uv(verb: str, *rest: str) -> None:
    """Run uv, quietly."""
    run(str(UV), verb, *rest, "-q")


def run(*command: str, cwd: Path = ROOT) -> None:
    """Run *command*; its failure ends the check."""
    done = subprocess.run(command, cwd=cwd, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("pythons", nargs="*", default=PYTHONS, metavar="PYTHON")
    sys.exit(main(parser.parse_args().pythons))

"""Build the site in build/site: the documentation, and JupyterLite with toolbench, its notebooks and all wheels.

`make site` calls it in an environment of its own. Wheels come from PyPI and Pyodide from npm, by their
ordinary clients and pinned; the site itself asks no other origin for anything.
"""
# ruff: noqa: T201 - a script talks to its terminal

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
import tarfile
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import bench_charts
from lite_errors import heed_meant_errors
from page_notebooks import with_link, write_notebooks
from smaller_page import pack_wasm, trim_wheels

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "build" / "site-work"
SITE = ROOT / "build" / "site"
SOURCE = ROOT / "site"
PYODIDE = "314.0.7"
MERMAID = "12.3.0"
PLATFORM = ("3.14", "cp314", "pyemscripten_2026_0_wasm32")
PAGES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
CONTENTS_OF_REFERENCE = """
```{toctree}
:hidden:
:glob:
toolbench*
```
"""
# Built for Pyodide, on PyPI
NATIVE = ("pydantic-core", "charset-normalizer")


def run(*command: str, cwd: Path = ROOT) -> None:
    """Run *command*; its failure is ours."""
    subprocess.run(command, check=True, cwd=cwd)  # noqa: S603 - our own words


def wheels() -> Path:
    """Put toolbench and all it needs in a page into a folder of wheels."""
    folder = WORK / "wheels"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "-q")
    pins = _lines(SOURCE / "wheels.txt")
    version, abi, platform = PLATFORM
    target = (
        *pip,
        "download",
        "--no-deps",
        "--only-binary",
        ":all:",
        "-d",
        str(folder),
    )
    target = (*target, "--python-version", version)
    native = [pin for pin in pins if pin.split("==")[0] in NATIVE]
    pure = [pin for pin in pins if pin not in native and not pin.startswith("pyyaml")]
    run(*target, "--platform", platform, "--implementation", "cp", "--abi", abi, *native)
    run(*target, "--platform", "any", *pure)
    built = WORK / "pyyaml"
    shutil.rmtree(built, ignore_errors=True)
    yaml = next(pin for pin in pins if pin.startswith("pyyaml"))
    run(*pip, "download", "--no-deps", "--only-binary", ":all:", "-d", str(built), yaml)
    _pure_yaml(next(built.glob("*.whl")), folder)
    run(sys.executable, "-m", "build", "-q", "--wheel", "-o", str(folder))
    trim_wheels(folder)
    return folder


def _lines(path: Path) -> list[str]:
    lines = (line.split("#")[0].strip() for line in path.read_text().splitlines())
    return [line for line in lines if line]


def _pure_yaml(wheel: Path, folder: Path) -> None:
    """Build PyYAML without its part in C, of which only Pyodide's own host has a build.

    Its modules in Python are the same in every wheel, so this machine's wheel has them.
    """
    module = WORK / "pyyaml" / "module"
    with zipfile.ZipFile(wheel) as archive:
        names = [n for n in archive.namelist() if n.endswith((".py", "/LICENSE"))]
        names = [n for n in names if not n.startswith("_yaml")]
        archive.extractall(module, names)  # noqa: S202 - modules of a pinned wheel
    version = wheel.name.split("-")[1]
    (module / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        f'[project]\nname = "pyyaml"\nversion = "{version}"\n'
        '[tool.hatch.build.targets.wheel]\npackages = ["yaml"]\n'
    )
    shutil.copy(next(module.rglob("LICENSE")), module / "LICENSE")
    run(
        sys.executable,
        "-m",
        "build",
        "-q",
        "--wheel",
        "-n",
        "-o",
        str(folder),
        cwd=module,
    )


def from_npm(name: str, version: str) -> Path:
    """Fetch a package of npm's, and return the folder of its files."""
    home = WORK / name
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    run("npm", "pack", "--silent", f"{name}@{version}", cwd=home)
    with tarfile.open(next(home.glob("*.tgz"))) as archive:
        archive.extractall(home, filter="data")
    return home / "package"


def mermaid(folder: Path) -> None:
    """Put into *folder* what draws the diagrams of the documents in the page."""
    dist = from_npm("mermaid", MERMAID) / "dist"
    folder.mkdir()
    shutil.copy(dist / "mermaid.esm.min.mjs", folder)
    chunks = Path("chunks", "mermaid.esm.min")
    ignored = shutil.ignore_patterns("*.map")
    shutil.copytree(dist / chunks, folder / chunks, ignore=ignored)


def pyodide(folder: Path) -> Path:
    """Return an archive of Pyodide whose lock file names only what it contains."""
    package = from_npm("pyodide", PYODIDE)
    home = package.parent
    for extra in (
        *package.glob("*.map"),
        *package.glob("*.d.ts"),
        *package.glob("console*"),
    ):
        extra.unlink()
    # The loader for scripts that are no modules, which JupyterLite does not use
    (package / "pyodide.js").unlink()
    pack_wasm(package)
    path = package / "pyodide-lock.json"
    lock = json.loads(path.read_text())
    lock["packages"] = {
        name: _locked(name, lock["packages"][name], folder, package)
        for name in ("micropip", "packaging")
    }
    path.write_text(json.dumps(lock))
    archive_path = home / "pyodide.tar.bz2"
    with tarfile.open(archive_path, "w:bz2", compresslevel=1) as archive:
        archive.add(package, "pyodide")
    return archive_path


def _locked(name: str, entry: Any, folder: Path, package: Path) -> Any:
    """Move the wheel of *name* beside Pyodide, and return its entry of the lock file."""
    wheel = next(folder.glob(f"{name}-*.whl"))
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    shutil.move(wheel, package / wheel.name)
    return {
        **entry,
        "file_name": wheel.name,
        "sha256": digest,
        "version": wheel.name.split("-")[1],
    }


def lite() -> None:
    """Build JupyterLite into the folder `lite` of the site."""
    shutil.rmtree(SITE / "lite", ignore_errors=True)
    # What it takes for built
    for database in WORK.glob(".jupyterlite.doit.db*"):
        database.unlink()
    folder, files = wheels(), WORK / "files"
    write_notebooks(files)
    archive = pyodide(folder)
    config = {
        "LiteBuildConfig": {
            "contents": [str(files)],
            "output_dir": str(SITE / "lite"),
            "cache_dir": str(WORK / "cache"),
            "lite_dir": str(SOURCE),
            "apps": ["lab", "notebooks"],
            "no_sourcemaps": True,
        },
        "PipliteAddon": {"piplite_urls": [str(p) for p in sorted(folder.glob("*.whl"))]},
        "PyodideAddon": {"pyodide_url": str(archive)},
    }
    path = WORK / "jupyter_lite_config.json"
    path.write_text(json.dumps(config, indent=1))
    jupyter = str(Path(sys.executable).parent / "jupyter")
    run(jupyter, "lite", "build", "--config", str(path), cwd=WORK)
    heed_meant_errors(SITE / "lite")


def documentation() -> None:
    """Build the pages with Sphinx and MyST-NB from docs and notebooks."""
    source = WORK / "docs"
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(ROOT / "docs", source / "docs")
    shutil.copytree(SOURCE / "pages", source, dirs_exist_ok=True)
    shutil.copytree(ROOT / "bench", source / "bench", ignore=shutil.ignore_patterns("*.py"))
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        text = json.dumps(with_link(path.stem, json.loads(path.read_text("utf-8"))))
        (source / "notebooks" / path.name).write_text(text, "utf-8")
    for name in (*PAGES, "LICENSE"):
        shutil.copy(ROOT / name, source)
    results = (ROOT / "bench" / "RESULTS.md").read_text("utf-8")
    (source / "bench" / "charts.md").write_text(bench_charts.page(results), "utf-8")
    with (source / "docs" / "reference" / "README.md").open("a") as reference:
        reference.write(CONTENTS_OF_REFERENCE)
    shutil.copytree(SOURCE / "static", source / "_static")
    mermaid(source / "_static" / "mermaid")
    shutil.copy(SOURCE / "conf.py", source)
    # Pages that are no more
    for old in SITE.glob("*"):
        if old.is_dir() and old.name != "lite":
            shutil.rmtree(old)
        elif old.is_file():
            old.unlink()
    sphinx = (sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html")
    run(*sphinx, str(source), str(SITE))
    # Those in raw HTML, which Sphinx does not copy
    images = Path("docs", "images")
    shutil.copytree(ROOT / images, SITE / images, dirs_exist_ok=True)


def serve(port: int) -> None:
    """Serve the site on this machine."""
    handler = partial(SimpleHTTPRequestHandler, directory=str(SITE))
    with ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        print(f"The site is at http://127.0.0.1:{server.server_port}/ (Ctrl-C ends it)")
        server.serve_forever()


def main() -> None:
    """Build the site, or serve what was built."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--serve", type=int, metavar="PORT")
    parser.add_argument("--only", choices=("lite", "docs"))
    options = parser.parse_args()
    if options.serve is not None:
        serve(options.serve)
        return
    if options.only != "lite":
        documentation()
    if options.only != "docs":
        lite()
    size = sum(path.stat().st_size for path in SITE.rglob("*") if path.is_file())
    print(
        f"The site is in {SITE.relative_to(ROOT)}: {size / 1e6:.0f} MB. make site-serve shows it."
    )


if __name__ == "__main__":
    main()

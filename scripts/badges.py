"""Writes the README's badges for the account that publishes, which pyproject.toml names; `--check` only compares.

The account is not known yet: `OWNER` stands for it, there and nowhere else.
"""
# ruff: noqa: T201 - a script talks to its terminal

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
BEGIN = "<!-- badges: made by `make docs`; the account is in pyproject.toml -->\n"
END = "<!-- end of badges -->"
BADGES = """\
[![Binder](https://mybinder.org/badge_logo.svg)](https://mybinder.org/v2/gh/{account}/toolbench/HEAD?urlpath=lab/tree/notebooks/00_tour.ipynb)
[Read and try it in the browser](https://{account}.github.io/toolbench/)
"""


def main(arguments: list[str]) -> int:
    """Write the badges, or with `--check` say whether they are as they would be written."""
    before = README.read_text("utf-8")
    head, _, rest = before.partition(BEGIN)
    _, _, tail = rest.partition(END)
    text = f"{head}{BEGIN}{BADGES.format(account=account())}{END}{tail}"
    if "--check" not in arguments:
        README.write_text(text, "utf-8")
    elif text != before:
        print("The README's badges are not those of the account: run `make docs`.")
        return 1
    return 0


def account() -> str:
    """Return the account that publishes the repository and its site."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    name: str = project["tool"]["toolbench"]["account"]
    return name


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The files that the file tools are measured on."""

import random
from pathlib import Path

WORDS = "alpha beta gamma import return class def self value_index error(python) {token} stream"


def large_file(path: Path) -> Path:
    """Write 9.3 MB in 130,000 lines."""
    lines = (
        f"line {n} of a file with many lines, and text in all of them {n}" for n in range(130_000)
    )
    path.write_text("\n".join(lines) + "\n")
    return path


def many_files(root: Path) -> Path:
    """Write 20,000 files of 1 to 6 kB in 400 directories; `needle_here` is in ten of them."""
    chosen = random.Random(1)
    words = WORDS.split()
    for n in range(20_000):
        directory = root / f"pkg{n // 1_000}" / f"mod{n // 50 % 20}"
        directory.mkdir(parents=True, exist_ok=True)
        lines = [" ".join(chosen.choices(words, k=8)) for _ in range(chosen.randint(20, 120))]
        lines += ["needle_here = 1"] * (n % 2_000 == 0)
        lines += ["common_token"] * (n % 5 == 1)
        name = f"file{n}.{('py', 'py', 'py', 'js', 'md')[n % 5]}"
        (directory / name).write_text("\n".join(lines))
    return root

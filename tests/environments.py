"""Python environments beside our own, made by uv when a test first needs them."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
_UV = ROOT / ".venv" / ".uv" / "bin" / "uv"
_SECONDS = 300


def uv(*arguments: str, untested: str) -> None:
    """Run uv in the repository; if it cannot, say that *untested* is not tested."""
    command = [str(_UV) if _UV.exists() else "uv", *arguments]
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        reason = done.stderr if done.returncode else ""
    except (OSError, subprocess.TimeoutExpired) as error:
        reason = str(error)
    if reason:
        stop = pytest.fail if os.environ.get("CI") else pytest.skip
        stop(f"{untested} NOT TESTED: {' '.join(command)}: {reason}")

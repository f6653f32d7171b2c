"""What is said of installing an exported package: it works as it is pasted, also without pip."""

import sys

import pytest

from toolbench.export.installation import (
    how_to_install,
    how_to_install_for_openhands,
    how_to_install_from_a_cell,
)


@pytest.fixture
def _uv(programs):
    (programs / "uv").write_text("#!/bin/sh\n")
    (programs / "uv").chmod(0o755)


@pytest.mark.usefixtures("_pip", "programs")
@pytest.mark.parametrize(
    ("folder", "path"),
    [
        ("late_fee_pkg", "./late_fee_pkg"),
        ("./late_fee_pkg", "./late_fee_pkg"),
        ("../late_fee_pkg", "../late_fee_pkg"),
        ("/tmp/late_fee_pkg", "/tmp/late_fee_pkg"),
        ("late fee", "'./late fee'"),
    ],
)
def test_a_folder_is_no_name_of_a_package(folder, path):
    """A relative folder begins with `./`: else pip looks for a package of that name on PyPI."""
    sentence = how_to_install_from_a_cell(folder)
    assert sentence == f"`%pip install {path}` installs it."


@pytest.mark.usefixtures("_no_pip", "_uv")
def test_without_pip_it_is_uv():
    """Uv installs into the environment of the kernel, which needs no pip for it."""
    assert how_to_install_from_a_cell("p") == (
        f"`!uv pip install --python {sys.executable} ./p` installs it."
    )
    assert how_to_install("p", python="python") == (
        f"`uv pip install --python {sys.executable} ./p` installs it."
    )


@pytest.mark.usefixtures("_no_pip", "programs")
def test_without_both_python_brings_pip():
    """Python's own ensurepip adds pip; then there is a way."""
    assert how_to_install_from_a_cell("p") == (
        f"To install it, run two commands: `!{sys.executable} -m ensurepip`, since this "
        "environment has no pip yet, and then `%pip install ./p`."
    )
    assert how_to_install("p", python="python") == (
        "To install it, run two commands: `python -m ensurepip`, since this "
        "environment has no pip yet, and then `python -m pip install ./p`."
    )


@pytest.mark.usefixtures("programs")
def test_for_the_sdk_it_is_another_environment():
    """The SDK needs a newer Python than we do, and cannot be where toolbench is: `%pip` is no way."""
    sentence = how_to_install_for_openhands("weigh oh")
    assert "Python 3.12 or newer and cannot share an environment" in sentence
    assert "`python3.12 -m venv './weigh oh_env'`" in sentence
    assert "`'./weigh oh_env'/bin/python -m pip install './weigh oh'`" in sentence


@pytest.mark.usefixtures("_uv")
def test_for_the_sdk_uv_makes_the_environment():
    """It brings its own Python 3.12."""
    sentence = how_to_install_for_openhands("/tmp/weigh/")
    assert "`uv venv --python 3.12 /tmp/weigh_env`" in sentence
    assert "`uv pip install --python /tmp/weigh_env /tmp/weigh`" in sentence

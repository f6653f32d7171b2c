"""What repo2docker, and so mybinder.org, will do with this repository."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import nbformat
import pytest
from nbformat.sign import NotebookNotary
from packaging.specifiers import SpecifierSet
from patience import PATIENCE

ROOT = Path(__file__).parents[1]
PYTHON = (ROOT / "binder/runtime.txt").read_text().strip().removeprefix("python-")


@pytest.fixture(scope="module")
def repo2docker() -> subprocess.CompletedProcess[str]:
    """repo2docker's Dockerfile for this repository, and what it says about it."""
    command = [sys.executable, "-m", "repo2docker", "--no-build", "--debug"]
    # It refuses to build as root
    command += ["--user-id=1000", "--user-name=jovyan"]
    return subprocess.run(
        [*command, "."], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE
    )


@pytest.fixture
def dockerfile(repo2docker) -> list[str]:
    """The Dockerfile, line by line."""
    assert repo2docker.returncode == 0, repo2docker.stderr
    return repo2docker.stdout.splitlines()


class TestDockerfile:
    @pytest.mark.slow
    def test_installs_our_requirements_with_the_whole_repository_there(self, dockerfile):
        """The requirements name the repository itself, so its files come first."""
        install = 'pip install --no-cache-dir -r "binder/requirements.txt"'
        [step] = [n for n, line in enumerate(dockerfile) if line.endswith(install)]
        copy = dockerfile.index("COPY --chown=1000:1000 src/ ${REPO_DIR}/")
        assert copy < step

    def test_uses_the_python_of_runtime_txt(self, repo2docker):
        """Without runtime.txt it would be a Python we do not support."""
        lines = repo2docker.stderr.splitlines()
        assert f"Building conda environment for python={PYTHON}" in lines

    def test_runs_post_build_after_the_installation(self, dockerfile):
        """Notebooks are trusted by the Jupyter that was installed for them."""
        installed = max(n for n, line in enumerate(dockerfile) if "pip install" in line)
        assert dockerfile.index("RUN ./binder/postBuild") > installed


class TestFiles:
    def test_requirements_are_the_demo_at_the_tested_versions(self):
        """The image holds what `make` installs, and what its notebooks import."""
        requirements = (ROOT / "binder/requirements.txt").read_text().splitlines()
        assert {".[demo,local]", "notebook"} <= {line.split()[0] for line in requirements}
        [constraint] = [line[3:] for line in requirements if line.startswith("-c ")]
        assert (ROOT / "binder" / constraint).resolve() == ROOT / "constraints.txt"

    def test_runtime_is_a_python_we_support(self):
        """The repository could not be installed on any other."""
        project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
        assert PYTHON in SpecifierSet(project["requires-python"])

    @pytest.mark.slow
    def test_post_build_brings_the_weights_and_trusts_the_notebooks(self, tmp_path):
        """LocalModel works, with the weights of the tests; saved HTML shows before a cell has run."""
        notebook = nbformat.v4.new_notebook()
        (tmp_path / "notebooks").mkdir()
        nbformat.write(notebook, tmp_path / "notebooks" / "any.ipynb")
        # Nothing is downloaded here: it writes down what it was asked for
        pip = tmp_path / "pip"
        pip.write_text('#!/bin/sh\necho "$@" >asked\n')
        pip.chmod(0o755)
        path = os.pathsep.join(
            [str(tmp_path), str(Path(sys.executable).parent), os.environ["PATH"]]
        )
        data = tmp_path / "data"
        subprocess.run(
            [ROOT / "binder/postBuild"],
            cwd=tmp_path,
            env=os.environ | {"PATH": path, "JUPYTER_DATA_DIR": str(data)},
            check=True,
            capture_output=True,
            timeout=PATIENCE,
        )
        *_, without_dependencies, weights = (tmp_path / "asked").read_text().split()
        assert without_dependencies == "--no-deps"
        assert f"--no-deps {weights}\n" in (ROOT / "Makefile").read_text()
        notary = NotebookNotary(data_dir=str(data))
        trusted = notary.check_signature(notebook)
        notary.store.close()
        assert trusted

"""What publishes the project fits it: workflow files, the account of badges, the version, the files hosts show."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
ACCOUNT = PROJECT["tool"]["toolbench"]["account"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TEMPLATES = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.md"))
VERSION = "toolbench/_version.py"


def targets():
    """The targets of the Makefile."""
    text = (ROOT / "Makefile").read_text("utf-8")
    return set(re.findall(r"^([a-z][a-z-]*):", text, re.M))


@pytest.fixture(params=WORKFLOWS, ids=lambda path: path.name)
def workflow(request):
    """One workflow, parsed."""
    return yaml.safe_load(request.param.read_text("utf-8"))


class TestWorkflows:
    def test_there_is_one(self):
        """The tests below look at something."""
        assert [path.name for path in WORKFLOWS] == ["site.yml"]

    def test_has_what_a_workflow_needs(self, workflow):
        """When it runs, where, and what each step does."""
        # YAML reads the key `on` as true
        assert workflow[True]
        for job in workflow["jobs"].values():
            assert job["runs-on"]
            assert all(("uses" in step) != ("run" in step) for step in job["steps"])

    def test_runs_what_the_makefile_has(self, workflow):
        """Each line of shell is `make` and targets that are there."""
        steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
        lines = [line for step in steps for line in step.get("run", "").splitlines()]
        assert lines
        for line in lines:
            program, *words = line.split()
            assert program == "make", line
            assert set(words) <= targets(), line

    def test_actions_have_a_version(self, workflow):
        """No step uses whatever is newest."""
        steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
        actions = [step["uses"] for step in steps if "uses" in step]
        assert all(re.fullmatch(r"[\w-]+/[\w-]+@v\d+", action) for action in actions)

    def test_uses_the_oldest_python(self, workflow):
        """The site is built with the Python that CI uses first."""
        steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
        versions = {
            step["with"]["python-version"]
            for step in steps
            if "python-version" in step.get("with", {})
        }
        assert versions == {PROJECT["project"]["requires-python"].removeprefix(">=")}


def tracked(word):
    """The files of the repository that hold *word*."""
    command = ["git", "grep", "-lw", "--untracked", word]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode > 1:
        pytest.skip(f"this is no git checkout: {done.stderr}")
    return set(done.stdout.split())


class TestOnePlace:
    def test_account_is_named_in_one_place(self):
        """README's badges are made from it; nothing else names the account."""
        made_from_it = {"README.md", "pyproject.toml"}
        # In its saved output
        shows_the_readme = {"notebooks/00_tour.ipynb"}
        about_it = {"scripts/badges.py", "tests/test_publishing.py"}
        assert tracked(ACCOUNT) - about_it - shows_the_readme == made_from_it

    def test_badges_have_the_account(self):
        """Binder and the site are looked for where the project is published."""
        text = (ROOT / "README.md").read_text("utf-8")
        assert f"mybinder.org/v2/gh/{ACCOUNT}/toolbench/" in text
        assert f"https://{ACCOUNT}.github.io/toolbench/" in text

    def test_version_is_written_once(self):
        """pyproject.toml reads it from the package; CITATION.cff has none to go stale."""
        assert PROJECT["project"]["dynamic"] == ["version"]
        assert PROJECT["tool"]["hatch"]["version"]["path"] == VERSION
        citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
        assert "version" not in citation


class TestFilesOfTheProject:
    def test_citation(self):
        """CITATION.cff has what its format asks for, and the project's licence."""
        citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
        assert {"cff-version", "message", "title", "authors"} <= citation.keys()
        assert citation["license"] == PROJECT["project"]["license"]

    def test_security_says_who_is_hostile_and_what_is_not_promised(self):
        """The threat model is on one page, with its limits and a way to report."""
        text = (ROOT / "SECURITY.md").read_text("utf-8")
        headings = set(re.findall(r"^## (.+)$", text, re.M))
        names = {"Report a weakness", "Who is hostile", "What we do not promise"}
        assert names <= headings

    def test_code_of_conduct_says_where_to_report(self):
        """Who suffers something reads whom to write to."""
        assert "write to the maintainers" in (ROOT / "CODE_OF_CONDUCT.md").read_text()

    @pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
    def test_issue_template(self, template):
        """GitHub offers a template that has a name and a description."""
        _, head, body = template.read_text("utf-8").split("---\n", 2)
        assert {"name", "about"} <= yaml.safe_load(head).keys()
        assert body.strip()

    def test_there_are_issue_templates(self):
        """One for defects, one for ideas."""
        assert [path.stem for path in TEMPLATES] == ["defect", "idea"]


def test_release_check_covers_every_python_that_is_promised():
    """The check of the wheel runs on the Pythons of the classifiers, with both ends of the versions."""
    code = "import release_check as r; print(*r.PYTHONS, *r.RESOLUTIONS)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT / "scripts",
        capture_output=True,
        text=True,
        check=True,
    )
    names = PROJECT["project"]["classifiers"]
    pythons = re.findall(r"Python :: (\d\.\d+)", "\n".join(names))
    assert done.stdout.split() == [*pythons, "highest", "lowest-direct"]

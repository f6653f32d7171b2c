"""Where a search begins: glob and grep say in time that there is no such place."""

import pytest

from toolbench.core.state import ConversationState
from toolbench.tools import ApplyPatchTool
from toolbench.tools.glob import GlobAction, GlobExecutor, GlobTool
from toolbench.tools.grep import GrepAction, GrepExecutor, GrepTool


@pytest.mark.parametrize("kind", [GlobTool, GrepTool])
class TestCreate:
    def test_names_the_directory_that_is_missing(self, kind, tmp_path):
        """A working directory that is none is refused before anything is searched."""
        missing = tmp_path / "missing"
        state = ConversationState(missing)
        for arguments in ({"working_dir": missing}, {"conv_state": state}):
            with pytest.raises(ValueError, match=f"'{missing}' is not a valid directory"):
                kind.create(**arguments)

    def test_a_file_is_no_directory(self, kind, tmp_path):
        """Neither is a file one to begin in."""
        file = tmp_path / "file"
        file.touch()
        with pytest.raises(ValueError, match="is not a valid directory to search"):
            kind.create(working_dir=file)


@pytest.mark.parametrize(
    ("executor", "action"),
    [
        (GlobExecutor, GlobAction(pattern="*.py")),
        (GrepExecutor, GrepAction(pattern="x")),
    ],
)
class TestExecutor:
    def test_takes_its_directory_first(self, executor, action, tmp_path):
        """As the reference's executors do: a path, not a state."""
        (tmp_path / "a.py").write_text("x")
        for place in (tmp_path, str(tmp_path)):
            assert executor(place)(action).text == str(tmp_path / "a.py")

    def test_names_a_directory_that_went_away(self, executor, action, tmp_path):
        """What was there at first and is gone is named, not `None`."""
        place = tmp_path / "place"
        place.mkdir()
        search = executor(place)
        place.rmdir()
        observation = search(action)
        assert observation.is_error
        assert observation.text.startswith(f"{str(place)!r} is not a valid directory")


NO_PATHS = {
    "long name": "x" * 300,
    "long path": "a/" * 3_000,
    "long absolute": "/" + "x" * 300,
    "NUL": "a\0b",
    "half a character": "\ud800",
    "circle": "circle",
    "in a circle": "circle/x",
    "link to a long name": "link",
}
CALLS = {
    "glob path": (GlobTool, lambda path: {"pattern": "*", "path": path}),
    "glob pattern": (GlobTool, lambda path: {"pattern": path}),
    "glob directory": (GlobTool, lambda path: {"pattern": f"{path}/*.py"}),
    "grep path": (GrepTool, lambda path: {"pattern": "x", "path": path}),
    "grep include": (GrepTool, lambda path: {"pattern": "x", "include": path}),
    "patch add": (ApplyPatchTool, lambda path: patch(f"Add File: {path}\n+x")),
    "patch delete": (ApplyPatchTool, lambda path: patch(f"Delete File: {path}")),
}


def patch(text: str) -> dict[str, str]:
    return {"patch": f"*** Begin Patch\n*** {text}\n*** End Patch"}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "circle").symlink_to("circle")
    (tmp_path / "link").symlink_to("x" * 200 + "/" + "y" * 300)
    return tmp_path


class TestWhatIsNoPath:
    @pytest.mark.parametrize("path", NO_PATHS.values(), ids=NO_PATHS.keys())
    @pytest.mark.parametrize(("kind", "call"), CALLS.values(), ids=CALLS.keys())
    def test_is_an_answer_of_the_tool(self, kind, call, path, folder):
        """What the system cannot open is said to the model; nothing is raised or made."""
        before = set(folder.iterdir())
        [tool] = kind.create(ConversationState(folder))
        observation = tool(call(path))
        assert observation.text
        assert set(folder.iterdir()) == before

    @pytest.mark.parametrize("path", NO_PATHS.values(), ids=NO_PATHS.keys())
    @pytest.mark.parametrize("kind", [GlobTool, GrepTool])
    def test_is_no_working_directory(self, kind, path, folder):
        """A wrong one is refused before anything is searched."""
        with pytest.raises(ValueError, match="is not a valid directory"):
            kind.create(working_dir=folder / path)

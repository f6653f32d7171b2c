"""The file of checks: users edit it, cells and panels add to it and accept into it, and comments stay."""

from concurrent.futures import ThreadPoolExecutor
from textwrap import dedent

import pytest

from toolbench.checks import Check, Checks
from toolbench.checks.check_file import CheckFile
from toolbench.errors import CaseError

TEXT = """\
# Of our orders.
checks:
  # the first one
  - name: one   # its name
    tool: shop.orders
    arguments: {id: 0012, note: no}
    expect: {result: {total: 1, rows: [1, 2]}}   # in one line
  - name: two
    tool: shop.orders
    expect:
      result:
        total: 5   # euros
        text: |
          a
          b
        # the rows
        rows: [{x: 1},
               {x: 2}]   # two
      loosen: [times]   # as always
  # without a word
  - name: three
    tool: shop.orders   # last

# the end
"""


@pytest.fixture
def file(tmp_path):
    """A file that a user has written."""
    path = tmp_path / "shop.checks.yaml"
    path.write_text(TEXT)
    return CheckFile(path)


def expecting(file, name, **changes):
    """The check *name* of *file*, with other values in its expected result."""
    [check] = [each for each in file.read() if each.name == name]
    result = {**check.expect.get("result", {}), **changes}
    return Check(
        name, check.tool, arguments=check.arguments, expect={**check.expect, "result": result}
    )


def test_only_what_is_accepted_changes(file):
    """All other lines stay as the user wrote them."""
    file.replace(expecting(file, "two", total=6, text="a\nc\n", rows=[{"x": 1}, {"x": 3}]))
    file.replace(expecting(file, "one", rows=[1, 3]))
    wanted = (
        TEXT.replace("total: 5", "total: 6").replace("          b\n", "          c\n")
        .replace("{x: 2}", "{x: 3}").replace("[1, 2]", "[1, 3]")
    )  # fmt: skip
    assert file.path.read_text() == wanted
    assert file.read()[0].arguments == {"id": 12, "note": "no"}
    file.replace(expecting(file, "three", n=1))
    assert file.read()[2].expect == {"result": {"n": 1}}
    text = file.path.read_text()
    assert text.startswith(wanted[: wanted.index("- name: three")]) and text.endswith("# the end\n")


def test_what_is_added_comes_last(file, tmp_path):
    """What was there stays; a name that is taken gets a number."""
    added = file.add(Check("two", "add", arguments={"a": 1}, expect={"text": "x\ny"}))
    assert added.name == "two 2"
    assert file.path.read_text().startswith(TEXT.rstrip())
    assert file.read()[-1] == added
    new = CheckFile(tmp_path / "new.checks.yaml")
    new.add(added)
    assert new.read() == [added] and new.path.read_text().startswith("#")


def test_several_may_write_at_once(file):
    """No check is lost: cells, panels and kernels share the file."""
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: file.add(Check(f"n{n}", "t")), range(24)))
    assert {each.name for each in file.read()} == {
        "one",
        "two",
        "three",
        *(f"n{n}" for n in range(24)),
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("checks: 3", "checks"),
        ("checks: [{name: a, tool: t, expct: {}}]", "expct"),
        ("checks: [{name: a}]", "tool"),
        ("checks: [{name: a, tool: t, expect: {match: {x: likes}}}]", "is not a rule"),
        ("checks: [{name: a, tool: t}, {name: a, tool: u}]", "several checks"),
        ("a: &a [x]\nb: *a", "alias"),
        ("checks: [", "not YAML"),
        ("checks: []  # caf\udce9", "not UTF-8"),
    ],
)
def test_a_file_that_cannot_be_used_stays_as_it_is(tmp_path, text, words):
    """It is refused in one sentence with its name, also if a check is to be added."""
    path = tmp_path / "bad.checks.yaml"
    written = text.encode(errors="surrogateescape")
    path.write_bytes(written)
    for act in (lambda: Checks.read(path), lambda: CheckFile(path).add(Check("n", "t"))):
        with pytest.raises(CaseError, match=words) as caught:
            act()
        assert str(caught.value).startswith("bad.checks.yaml cannot be used: ")
        assert "\n" not in str(caught.value)
    assert path.read_bytes() == written


def test_checks_are_written_and_read(tmp_path):
    """As they were; a file of something else is not overwritten."""
    checks = Checks(
        [Check("a", "t", arguments={"x": "1e5", "y": None}, answers=[{"u": "no"}, None])]
    )
    path = checks.write(tmp_path / "w.checks.yaml")
    assert [*Checks.read(path)] == [*checks]
    path.write_text(dedent("checks: []"))
    with pytest.raises(OSError, match="overwrite"):
        checks.write(path)
    with pytest.raises(CaseError, match="There is no file"):
        Checks.read(tmp_path / "none.yaml")

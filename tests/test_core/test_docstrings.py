import pytest

from toolbench.core.functions import Doc, parse

GOOGLE = """
Search for it.

More about it,
on two lines.

Args:
    query: What to look for,
        on two lines.
    limit (int): How many at most.

Returns:
    What was found.

Raises:
    ValueError: If there is no query.
"""
NUMPY = """
Search for it.

More about it,
on two lines.

Parameters
----------
query : str
    What to look for,
    on two lines.
limit : int, optional
    How many at most.

Returns
-------
list[str]
    What was found.
"""
SPHINX = """
Search for it.

More about it,
on two lines.

:param query: What to look for,
    on two lines.
:param int limit: How many at most.
:returns: What was found.
"""


@pytest.mark.parametrize("text", [GOOGLE, NUMPY, SPHINX], ids=["google", "numpy", "sphinx"])
@pytest.mark.parametrize("indent", ["", "    "])
def test_every_style_says_the_same(text, indent):
    """What a function does, its parameters and its result are found in the usual styles."""
    doc = parse(text.replace("\n", f"\n{indent}"))
    assert doc.text == "Search for it.\n\nMore about it,\non two lines."
    assert doc.parameters == {
        "query": "What to look for, on two lines.",
        "limit": "How many at most.",
    }
    assert doc.returns == "What was found."


@pytest.mark.parametrize("text", [None, "", "   "])
def test_nothing_says_nothing(text):
    """No docstring is an empty one."""
    assert parse(text) == Doc()


def test_plain_text_is_the_text():
    """A docstring without sections is all description."""
    assert parse("Do it: now.\n\n* one\n* two").text == "Do it: now.\n\n* one\n* two"


def test_mistakes_are_nobody_s_error():
    """A docstring that breaks the rules of its style is taken as far as it goes."""
    assert parse("Do it.\n\nArgs:\n    no colon here\n    a: fine").text.startswith("Do it.")

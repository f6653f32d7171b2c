"""Names of variables, made from texts of other people."""

from keyword import iskeyword

from hypothesis import example, given
from hypothesis import strategies as st

from toolbench.widgets.kit.notebook_variables import variable_name


@given(st.text())
@example("class")
@example("x²")
@example("1st")
@example("")
def test_any_text_becomes_a_name(text):
    """A cell can use the variable, whatever the tool is called."""
    name = variable_name(text)
    assert name.isidentifier()
    assert not iskeyword(name)

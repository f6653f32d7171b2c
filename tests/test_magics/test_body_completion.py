import json

import pytest
from IPython.core.completer import provisionalcompleter

CALL = """
from enum import Enum
from typing import Literal
from pydantic import BaseModel
from toolbench import tool
class Size(Enum):
    small = "S"
    large = "L"
class Dish(BaseModel):
    name: str
    size: Size
@tool
def order(dish: Dish, tip: Literal['none', '10%', "Ann's"], quick: bool = False) -> str:
    'Order.'
    return tip
"""


@pytest.fixture
def become(shell):
    """What a cell becomes with each of our offers; `|` is the cursor."""
    shell.run_cell(CALL).raise_error()

    def become(cell):
        before, _, rest = cell.partition("|")
        text = before + rest
        with provisionalcompleter():
            completions = list(shell.Completer.completions(text, len(before)))
        ours = [c for c in completions if c.type in {"param", "value"}]
        return {text[: c.start] + c.text + text[c.end :] for c in ours}

    return become


class TestJSON:
    @pytest.mark.parametrize(
        ("body", "expected"),
        [
            ('{"|', {'{"dish": ', '{"tip": ', '{"quick": '}),
            ("{t|", {'{"tip": '}),
            ('{"tip": "|', {'{"tip": "none"', '{"tip": "10%"', '{"tip": "Ann\'s"'}),
            ('{"tip": 1|', {'{"tip": "10%"'}),
            ('{"quick": |', {'{"quick": true', '{"quick": false'}),
            ('{"quick": "|', set()),
            ('{"tip": "none",\n "q|', {'{"tip": "none",\n "quick": '}),
            ('{"dish": {"|', {'{"dish": {"name": ', '{"dish": {"size": '}),
            ('{"dish": {"size": "S|', {'{"dish": {"size": "S"'}),
            ('{"ti|"}', {'{"tip"}'}),
            ('{"tip": "n|"}', {'{"tip": "none"}'}),
            ('{"tip": "none" |', set()),
            ('{"nope": "|', set()),
        ],
    )
    def test_puts_in_what_fits(self, become, body, expected):
        """Names where a name stands, choices where a value stands; what was begun is replaced."""
        cells = {f"%%tool order\n{text}" for text in expected}
        assert become(f"%%tool order\n{body}") == cells

    def test_makes_json(self, become):
        """With its end, what Tab made is JSON."""
        for cell in become('%%tool order\n{"quick": true, "tip": "|'):
            assert json.loads(cell.partition("\n")[2] + "}")["quick"] is True

    def test_does_so_on_the_line(self, become):
        """An object on the line is JSON as well."""
        assert become('%tool order {"quick": true, "|') == {
            '%tool order {"quick": true, "dish": ',
            '%tool order {"quick": true, "tip": ',
        }


class TestYAML:
    @pytest.mark.parametrize(
        ("body", "expected"),
        [
            ("|", {"dish: ", "tip: ", "quick: "}),
            ('"t|', {'"tip": '}),
            ("'t|", {"'tip': "}),
            ("tip: |", {"tip: none", "tip: 10%", "tip: Ann's"}),
            ('tip: "A|"', {'tip: "Ann\'s"'}),
            ("tip: 'A|", {"tip: 'Ann''s'"}),
            ("quick: true\nt|", {"quick: true\ntip: "}),
            ("quick: f|", {"quick: false"}),
            # Where nothing of ours fits, IPython asks jedi too
            pytest.param("dish:\n  |", set(), marks=pytest.mark.slow),
        ],
    )
    def test_puts_in_what_fits(self, become, body, expected):
        """As in JSON; quotes are where they were begun, or have to be."""
        cells = {f"%%tool order\n{text}" for text in expected}
        assert become(f"%%tool order\n{body}") == cells

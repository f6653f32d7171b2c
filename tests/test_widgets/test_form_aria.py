"""What is heard of a field: its help and its errors belong to the name of its input."""

import re

import ipywidgets as w
import pytest

from test_widgets.front import named, page, type_into, walk
from toolbench.widgets.form import SchemaForm

_RULE = re.compile(
    r"<style data-toolbench-heard>\.(tb-[0-9a-f]+-\d+)>.*?content:\"([^\"]*)\" / \"([^\"]*)\""
)


def _descriptions(form: SchemaForm) -> dict[str, str]:
    """What the style sheets add to the names of the widgets."""
    pages = [x.value for x in walk(form.widget) if isinstance(x, w.HTML)]
    rules = {m[1]: m[3] for page in pages for m in _RULE.finditer(page)}
    return {
        widget.description: rules[name]
        for widget in walk(form.widget)
        for name in widget._dom_classes
        if name in rules
    }


def _form(**field: object) -> SchemaForm:
    return SchemaForm({"type": "object", "properties": {"n": field}, "required": ["n"]})


def test_inline_code_of_a_help_text_is_code():
    """Descriptions are written for models, often in Markdown: no backtick is seen, no HTML gets in."""
    form = _form(type="string", description="Such as `git <log>`, or ``.")
    assert "Such as <code>git &lt;log&gt;</code>, or ``." in page(form.widget)


class TestHeard:
    def test_help_and_limits_follow_the_name(self):
        """As do the words for the star."""
        form = _form(type="integer", description="How many.", minimum=3)
        assert _descriptions(form) == {"n": " required. How many. at least 3."}

    @pytest.mark.parametrize(
        ("limits", "limit"),
        [
            ({"minLength": 1}, "At least 1 character."),
            ({"minLength": 2}, "At least 2 characters."),
            ({"maxLength": 1}, "At most 1 character."),
            ({"minItems": 1, "maxItems": 0}, "At least 1 item, at most 0 items."),
            ({"minItems": 2, "maxItems": 2}, "2 items."),
            ({"minLength": 1, "maxLength": 1}, "1 character."),
            ({"minimum": 2}, "At least 2."),
        ],
    )
    def test_one_is_one(self, limits, limit):
        """A limit of one counts one character, not "1 characters"."""
        kinds = {"minItems": "array", "minimum": "integer"}
        kind = kinds.get(next(iter(limits)), "string")
        form = _form(type=kind, items={"type": "string"}, **limits)
        assert f">{limit}<" in page(form.widget)

    def test_an_error_is_heard_at_its_field(self):
        """It comes first, and goes when it is mended."""
        form = _form(type="integer", description="How many.")
        box = named(form.widget, "n")
        type_into(box, "x")
        description = _descriptions(form)["n"]
        assert description == " required. Invalid: \\27 x\\27  is not an integer. How many."
        type_into(box, "4")
        assert _descriptions(form) == {"n": " required. How many."}

    def test_two_forms_do_not_speak_for_each_other(self):
        """Their style sheets are on one page."""
        forms = [_form(type="string", description=f"Help {n}.") for n in range(2)]
        marks = {
            name
            for form in forms
            for name in named(form.widget, "n")._dom_classes
            if re.fullmatch(r"tb-[0-9a-f]{8}-\d+", name)
        }
        assert len(marks) == 2

    @pytest.mark.parametrize(
        "text",
        [
            "</style><script>x</script>",
            '"}*{display:none}',
            "a\\",
            "a\nb",
            "\x00",
            "\u202e",
        ],
    )
    def test_help_cannot_leave_its_string(self, text):
        """A stranger wrote it."""
        form = _form(type="string", description=text)
        (page,) = [x.value for x in walk(form.widget) if "tb-texts" in x._dom_classes]
        (rule,) = re.findall("<style[^>]*>(.*?)</style>", page, re.DOTALL)
        inside = re.fullmatch(r"[^{]*\{content:\" \*\";content:\" \*\" / \"(.*)\"\}", rule)
        assert inside
        assert re.fullmatch(r"([\w .,:;!?()-]|\\[0-9a-f]+ )*", inside[1])


class TestEnds:
    def test_no_sentence_ends_twice(self):
        """A question keeps its mark, for the eye and for the ear."""
        form = _form(type="integer", minimum=2, description="How many?")
        assert _descriptions(form)["n"] == " required. How many? at least 2."
        assert ">How many? At least 2.<" in page(form.widget)

import pytest

from toolbench import SecurityRisk

LOW, MEDIUM, HIGH, UNKNOWN = (SecurityRisk(r) for r in ("LOW", "MEDIUM", "HIGH", "UNKNOWN"))


def test_levels_are_ordered():
    """HIGH is above MEDIUM is above LOW; nothing is above itself."""
    order = [LOW, MEDIUM, HIGH]
    for n, risk in enumerate(order):
        assert [risk.is_riskier(other) for other in order] == [m < n for m in range(3)]


@pytest.mark.parametrize("pair", [(UNKNOWN, LOW), (HIGH, UNKNOWN), (UNKNOWN, UNKNOWN)])
def test_the_unknown_has_no_place(pair):
    """Comparing with UNKNOWN is an error, not a guess."""
    with pytest.raises(ValueError, match="UNKNOWN has no rank"):
        pair[0].is_riskier(pair[1])


def test_levels_are_plain_strings_with_a_meaning():
    """A level is what is written in JSON, and says what it means."""
    assert [str(risk) for risk in SecurityRisk] == ["UNKNOWN", "LOW", "MEDIUM", "HIGH"]
    assert len({risk.description for risk in SecurityRisk}) == 4

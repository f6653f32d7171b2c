"""%mcp registry: servers of an MCP registry, here one that serves recorded answers over HTTP."""

import pytest
from test_mcp.registry_server import RecordedRegistry, published

from toolbench.errors import ServerError

WEATHER = published(
    "io.github.example/weather",
    description="Forecasts of the weather.",
    version="1.2.0",
    packages=[
        {
            "registryType": "pypi",
            "identifier": "weather-mcp",
            "version": "1.2.0",
            "transport": {"type": "stdio"},
        }
    ],
)
OLD = published(
    "com.example/weather-old",
    status="deprecated",
    message="Use io.github.example/weather",
    description="Weather, once.",
    remotes=[{"type": "sse", "url": "https://old.example.com/sse"}],
)
HOSTILE = published(
    "io.github.evil/weather\u202e",
    description="<script>alert(1)</script>\n\x1b[31mrow \u202e",
)
MORE = [published(f"com.example/weather-{number}") for number in range(5)]


@pytest.fixture
def registry(shell):
    """A registry that the shell is configured with."""
    registry = RecordedRegistry(WEATHER, OLD, HOSTILE, *MORE)
    with registry.serving() as url:
        shell.run_line_magic("config", f"Toolbench.registry = '{url}'")
        yield registry


def test_lists_what_matches_page_after_page(mcp, registry):
    """Name, version, how it runs, status and what it is for; other words are looked for in the texts."""
    listing = mcp("registry weather --limit 3")
    assert listing.rows[0] == (
        "io.github.example/weather",
        "1.2.0",
        "pypi: weather-mcp",
        "active",
        "Forecasts of the weather.",
    )
    assert listing.rows[1][2:4] == (
        "https://old.example.com/sse",
        "deprecated: Use io.github.example/weather",
    )
    assert [asked.get("cursor") for asked in registry.asked] == [None, "2"]
    assert "There are more: --limit 6" in repr(listing)
    assert len(mcp("registry weather")) == 8
    assert [row[0] for row in mcp("registry weather ONCE").rows] == ["com.example/weather-old"]
    assert "The registry has no such server" in repr(mcp("registry nothing like it"))


def test_hostile_texts_stay_text(mcp, registry):
    """In the page and in a terminal."""
    bundle = mcp("registry evil")._repr_mimebundle_()
    assert "<script" not in bundle["text/html"]
    for text in bundle.values():
        assert "\x1b" not in text
        assert "\u202e" not in text
    assert "⟨U+202E⟩" in bundle["text/plain"]


@pytest.mark.parametrize(
    ("failure", "sentence"),
    [
        (503, r"cannot be used: it answered 503\. Try again later, or set another: %config"),
        ("html", 'its answer, "text/html", is not a JSON object. Try again'),
        (404, "it answered 404"),
    ],
)
def test_a_failure_is_one_sentence(mcp, registry, failure, sentence):
    """It names the registry, and what to do."""
    registry.failure = failure
    with pytest.raises(ServerError, match=sentence) as caught:
        mcp("registry weather")
    assert "\n" not in str(caught.value)


def test_an_unreachable_registry_is_one_sentence(shell, mcp):
    """And the password in its address is not shown; what is no URL is refused."""
    shell.run_line_magic("config", "Toolbench.registry = 'http://ada:s3cret-word@127.0.0.1:9'")
    with pytest.raises(
        ServerError, match=r"The registry http://.*127\.0\.0\.1:9 cannot be"
    ) as caught:
        mcp("registry weather")
    assert "s3cret-word" not in str(caught.value)


def test_an_address_is_a_url(shell, caplog):
    """Another one is refused when it is set."""
    shell.run_line_magic("config", "Toolbench.registry = 'registry.example.com'")
    assert "takes the URL of a registry" in caplog.text

import codecs
import sys
import threading
from base64 import b64decode

import pytest
from patience import PATIENCE, join

pytest.importorskip("html_to_markdown", reason="the extra `web` is not installed")

from test_tools.web_read_site import serving
from toolbench.tools.web_read import WebReadAction, WebReadExecutor, WebReadTool

PNG = b"\x89PNG\r\n\x1a\n and more"


class Reader(WebReadExecutor):
    """An executor called with an address."""

    def read(self, url: str, **arguments):
        return self(WebReadAction(url=url, **arguments))


@pytest.fixture(name="site", scope="module")
def _site():
    with serving() as site:
        yield site


@pytest.fixture(name="reader")
def _reader():
    return Reader(allow_private=True)


class TestPages:
    def test_come_as_markdown(self, site, reader):
        """Headings, lists, tables, code and links; no scripts, no styles."""
        url = site.html(
            "/page",
            "<html><head><title>A &amp; B</title><style>no{}</style></head><body>"
            "<h1>Title</h1><p>some <b>bold</b> snake_case text</p>"
            "<ul><li>one<li>two</ul>"
            "<table><tr><th>a</th><th>b</th></tr><tr><td>1|2</td><td>3</td></tr></table>"
            "<pre><code class='language-py'>x = 1\n  y</code></pre>"
            "<script>no()</script><a href='sub/x?y=1'>link</a> <a href='javascript:no()'>js</a>"
            "</body></html>",
        )
        result = reader.read(url)
        assert result.text == (
            f"A & B\n{url}\n\n# Title\n\nsome **bold** snake_case text\n\n- one\n- two\n\n"
            "| a | b |\n| --- | --- |\n| 1\\|2 | 3 |\n\n```py\nx = 1\n  y\n```\n\n"
            f"[link]({site.url}/sub/x?y=1) js"
        )
        assert (result.status, result.content_type, result.title) == (
            200,
            "text/html",
            "A & B",
        )

    def test_that_are_text_come_as_they_are(self, site, reader):
        """Plain text, JSON and XML are not touched."""
        for kind in (
            "text/plain",
            "application/json",
            "application/ld+json",
            "text/csv",
        ):
            url = site.page("/text", '{"a": "<b>"}', Content_Type=kind)
            assert reader.read(url).text.endswith('\n\n{"a": "<b>"}')

    def test_that_are_images_come_as_images(self, site, reader):
        """A model sees them."""
        url = site.page("/image.png", PNG, Content_Type="image/png")
        [block] = reader.read(url).content
        assert b64decode(block.image_urls[0].partition(",")[2]) == PNG

    def test_that_are_neither_are_refused(self, site, reader):
        """A PDF is no text; the sentence says what to do."""
        for kind, body in (("application/pdf", b"%PDF-1.7"), ("", b"\x7fELF\0\0")):
            result = reader.read(site.page("/binary", body, Content_Type=kind))
            assert result.is_error
            assert "Download it with a terminal" in result.text

    def test_that_are_long_come_in_parts(self, site, reader):
        """The parts together are the page, and the page is asked for once."""
        whole = "".join(f"{n:09}\n" for n in range(7_000))
        url = site.page("/long", whole, Content_Type="text/plain")
        count = len(site.requests)
        parts, start = [], 0
        while start is not None:
            result = reader.read(url, start=start)
            text = result.text if start else result.text.partition("\n\n")[2]
            parts.append(text.partition("\n\n[Characters")[0])
            start = result.next_start
        assert "".join(parts) == whole
        assert len(site.requests) == count + 1
        assert reader.read(url, start=70_000).is_error

    def test_that_are_empty_say_so(self, site, reader):
        """A page made by scripts has no text of its own."""
        result = reader.read(site.html("/app", "<div id=root></div><script>x</script>"))
        assert "use a browser" in result.text

    def test_of_menus_only_show_their_menus(self, site, reader):
        """Menus are left out only beside something else."""
        menu = "<nav><a href='/a'>A</a></nav>"
        assert "[A]" not in reader.read(site.html("/m", f"{menu}<p>text</p>")).text
        assert "[A]" in reader.read(site.html("/m", menu)).text

    def test_may_be_hostile(self, site, reader):
        """Nesting without end, half tags and millions of brackets cost no crash."""
        for body in (
            "<div>" * 50_000,
            "<" * 500_000,
            "[x](javascript:" * 50_000,
            "<p>\ud800",
        ):
            url = site.page("/bad", body.encode("utf-8", "surrogatepass"), Content_Type="text/html")
            assert not reader.read(url).is_error


class TestCharsets:
    @pytest.mark.parametrize(
        ("declared", "body"),
        [
            ("; charset=utf-8", "naïve €".encode()),
            ("", "naïve €".encode()),
            ("; charset=iso-8859-1", "naïve €".encode("cp1252")),
            ("", "naïve €".encode("cp1252")),
            ("", b"<meta charset='koi8-r'>" + "слово".encode("koi8-r")),
            (
                "",
                b'<?xml version="1.0" encoding="shift_jis"?>' + "言葉".encode("shift_jis"),
            ),
            ("; charset=utf-16", "naïve €".encode("utf-16")),
            ("; charset=koi8-r", codecs.BOM_UTF8 + "naïve €".encode()),
            ("; charset=nonsense", "naïve €".encode()),
            ("; charset=base64", "naïve €".encode()),
        ],
    )
    def test_are_found(self, site, reader, declared, body):
        """Byte order mark, server, page, UTF-8, Windows-1252: in this order."""
        url = site.page("/charset", body, Content_Type=f"text/html{declared}")
        text = reader.read(url).text
        assert any(word in text for word in ("naïve €", "слово", "言葉"))


class TestAnswers:
    def test_follow_redirects(self, site, reader):
        """The address in the observation is where the page was at last."""
        site.html("/end", "<p>here")
        site.moved("/two", "/end", 301)
        result = reader.read(site.moved("/one", f"{site.url}/two"))
        assert result.url == f"{site.url}/end"
        assert result.text.endswith("here")

    def test_do_not_follow_for_ever(self, site, reader):
        """A circle of redirects ends."""
        result = reader.read(site.moved("/circle", "/circle"))
        assert result.is_error
        assert "more than 10 times" in result.text

    def test_of_errors_are_errors(self, site, reader):
        """The status, and what the server says of it."""
        result = reader.read(f"{site.url}/missing")
        assert (result.is_error, result.status) == (True, 404)
        assert result.text == (
            "The server answered 404 Not Found. Check the address.\n\nnothing here"
        )

    def test_are_bounded(self, site, reader):
        """A body larger than the limit is cut, unpacked bodies too."""
        url = site.packed("/bomb", b"x" * 50_000_000)
        result = reader.read(url, start=4_990_000)
        assert "Only the first 5,000,000 bytes" in result.text

    def test_that_break_off_are_errors(self, site, reader):
        """A connection that ends in the middle is no page."""

        def half(handler):
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")

        site.pages["/half"] = half
        result = reader.read(f"{site.url}/half")
        assert result.is_error
        assert "did not answer correctly" in result.text

    def test_that_do_not_come_are_not_waited_for(self, site):
        """The timeout is for the whole page, however slowly it drips."""

        def drip(handler):
            handler.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
            while not site.release.wait(0.02):
                handler.wfile.write(b"x")

        site.pages["/drip"] = drip
        result = Reader(allow_private=True, timeout=0.3).read(f"{site.url}/drip")
        assert result.is_error
        assert "took longer than 0.3 s" in result.text

    def test_can_be_interrupted(self, site, reader):
        """From another thread; the call returns at once."""
        question_event = threading.Event()

        def hang(handler):
            question_event.set()
            assert site.release.wait(PATIENCE)

        site.pages["/hang"] = hang
        results = []
        thread = threading.Thread(target=lambda: results.append(reader.read(f"{site.url}/hang")))
        thread.start()
        assert question_event.wait(PATIENCE)
        reader.interrupt()
        join(thread)
        assert "interrupted" in results[0].text

    def test_of_nobody_are_errors(self, reader):
        """A port where nothing listens, a name nobody has."""
        assert "cannot be reached" in reader.read("http://127.0.0.1:1/").text
        assert "no host called" in reader.read("http://nowhere.invalid/").text

    @pytest.mark.parametrize(
        ("url", "why"),
        [
            ("file:///etc/passwd", "Only http"),
            ("ftp://example.org/", "Only http"),
            ("data:text/html,hi", "Only http"),
            ("example.org", "Only http"),
            ("", "Only http"),
            ("http://", "names no host"),
            ("http://[::1/", "not a valid address"),
            ("http://me:secret@example.org/", "user name or password"),
        ],
    )
    def test_are_not_asked_for_where_the_address_is_none(self, reader, url, why):
        """What is no web address is refused before anything is sent."""
        result = reader.read(url)
        assert result.is_error
        assert why in result.text
        assert "secret" not in result.text


class TestTool:
    def test_reads(self, site):
        """The tool is read-only and gives its observation."""
        [tool] = WebReadTool.create(allow_private=True)
        result = tool({"url": site.html("/tool", "<h1>Hi</h1>")})
        assert result.text.endswith("# Hi")
        assert tool.name == "web_read"
        assert tool.annotations.readOnlyHint

    def test_says_what_is_missing(self, monkeypatch):
        """Without the library it names the extra."""
        assert WebReadTool.is_usable()
        monkeypatch.setitem(sys.modules, "html_to_markdown", None)
        monkeypatch.setattr("toolbench.tools.web_read.definition.find_spec", lambda name: None)
        assert "jupyter-toolbench[web]" in str(WebReadTool.is_usable())

import os
import subprocess
import sys
from base64 import b64decode

import psutil
import pytest
from patience import eventually, when

pytest.importorskip("playwright", reason="the extra `browser` is not installed")

from test_tools.terminal_parts import alive
from test_tools.web_read_site import serving
from toolbench.runs.perform import perform
from toolbench.runs.questions import Answer
from toolbench.runs.run import Run
from toolbench.tools.browser import BrowserAction, BrowserExecutor, BrowserTool
from toolbench.tools.web_read import addresses

if not (usable := BrowserTool.is_usable()):
    reason = f"the browser tool is NOT TESTED: {usable}"
    # There `make unit` installs Chromium
    if os.environ.get("CI"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason, allow_module_level=True)

ONLY_HERE = (
    "--no-proxy-server",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)

FORM = """<!doctype html><title>A form</title>
<label>Name <input id=name></label>
<label>Colour <select multiple id=colour><option value=r>red<option value=g>green</select></label>
<input type=file aria-label=File id=file onchange="say(this.files[0].name)">
<button onclick="say('clicked')" ondblclick="say('twice')" oncontextmenu="say('menu')">Press me</button>
<button onclick="document.getElementById('file').click()">Choose</button>
<p onmouseenter="say('hovered')"><b>Hover</b> here</p>
<div draggable=true aria-label=Thing role=img ondragstart="event.dataTransfer.setData('text','thing')">thing</div>
<div aria-label=Place role=img ondragover="event.preventDefault()" ondrop="event.preventDefault(); say('dropped ' + event.dataTransfer.getData('text'))">place</div>
<a href="/second">Second page</a> <a href="/second" target=_blank>In a window</a>
<button onclick="alert('careful'); say('answered ' + confirm('sure?'))">Ask</button>
<output id=out role=status>nothing</output>
<div style="height: 5000px"></div><p id=end>the end</p>
<script>
function say(text) { out.textContent = text }
document.getElementById('name').onkeydown = e => { if (e.key == 'Enter') say('entered ' + e.target.value) }
document.getElementById('name').onfocus = () => say('focused')
document.getElementById('colour').onchange = e => say([...e.target.selectedOptions].map(o => o.value).join('+'))
onscroll = () => say('scrolled ' + (scrollY > 0))
</script>"""


class Surfer(BrowserExecutor):
    """An executor called with code."""

    def do(self, code: str):
        return self(BrowserAction(code=code))


@pytest.fixture(name="site", scope="module")
def _site():
    with serving() as site:
        site.html("/form", FORM)
        site.html("/second", "<title>Second</title><h1>Two</h1>")
        site.html("/frame", "<iframe srcdoc='<button>Inside</button>'></iframe>")
        yield site


@pytest.fixture(name="surfer", scope="module")
def _surfer():
    with Surfer(arguments=ONLY_HERE, allow_private=True) as executor:
        yield executor


def ref_of(name: str, snapshot: str) -> str:
    [line] = [one for one in snapshot.splitlines() if f'"{name}"' in one]
    return line.partition("[ref=")[2].partition("]")[0]


@pytest.fixture(name="ref")
def _ref(site, surfer):
    """The form is open; gives the ref of what the snapshot names."""
    snapshot = surfer.do(f"goto('{site.url}/form')").text

    return lambda name: ref_of(name, snapshot)


def status(observation) -> str:
    assert not observation.is_error, observation.error
    [line] = [one for one in observation.text.splitlines() if "- status" in one]
    return line.partition("]: ")[2]


class TestObservation:
    def test_shows_address_title_snapshot_and_picture(self, site, surfer):
        """A model gets what is on the page, with refs, and how it looks."""
        result = surfer.do(f"goto('{site.url}/form')")
        assert (result.url, result.title) == (f"{site.url}/form", "A form")
        assert (result.is_error, result.steps_done, result.error) == (False, 1, None)
        assert 'textbox "Name" [ref=e' in result.text
        picture = b64decode(result.content[1].image_urls[0].partition(",")[2])
        assert picture.startswith(b"\xff\xd8\xff")
        assert len(picture) > 5_000


class TestFunctions:
    def test_fill_clear_press_focus(self, surfer, ref):
        """A field takes text, loses it, gets keys and focus."""
        name = ref("Name")
        assert 'Ada "L"' in surfer.do(f"fill('{name}', 'Ada \"L\"')").text.replace("\\", "")
        assert (
            status(surfer.do(f"fill('{name}', 'Ada')\npress('{name}', 'Enter')")) == "entered Ada"
        )
        assert status(surfer.do(f"clear('{name}')\npress('{name}', 'Enter')")) == "entered"
        other = ref("Press me")
        assert status(surfer.do(f"click('{other}')\nfocus('{name}')")) == "focused"

    def test_click_dblclick_hover(self, surfer, ref):
        """The mouse, with any button."""
        button = ref("Press me")
        assert status(surfer.do(f"click('{button}')")) == "clicked"
        assert status(surfer.do(f"dblclick('{button}')")) == "twice"
        assert status(surfer.do(f"click('{button}', button='right')")) == "menu"

    def test_select_option(self, surfer, ref):
        """By value, by label, several at once."""
        colour = ref("Colour")
        assert status(surfer.do(f"select_option('{colour}', 'green')")) == "g"
        assert status(surfer.do(f"select_option('{colour}', ['r', 'g'])")) == "r+g"

    def test_drag_and_drop(self, surfer, ref):
        """One element onto another."""
        code = f"drag_and_drop('{ref('Thing')}', '{ref('Place')}')"
        assert status(surfer.do(code)) == "dropped thing"

    def test_upload_file(self, surfer, ref, tmp_path):
        """To the field, or to a button that asks for a file; a missing one is said."""
        file = tmp_path / "receipt.txt"
        file.write_text("paid")
        for target in ("File", "Choose"):
            assert status(surfer.do(f"upload_file('{ref(target)}', '{file}')")) == "receipt.txt"
        missing = surfer.do(f"upload_file('{ref('File')}', '/no/such/file')")
        assert "There is no file '/no/such/file'" in missing.error

    def test_scroll(self, surfer, ref):
        """The wheel moves the page."""
        assert status(surfer.do("scroll(0, 400)\nnoop(200)")) == "scrolled true"

    def test_goto_go_back_go_forward(self, site, surfer, ref):
        """Through the history and back."""
        assert surfer.do(f"click('{ref('Second page')}')").title == "Second"
        assert surfer.do("go_back()").title == "A form"
        assert surfer.do("go_forward()").title == "Second"

    def test_reach_into_frames(self, site, surfer):
        """Elements of a frame have refs of their own."""
        text = surfer.do(f"goto('{site.url}/frame')").text
        ref = ref_of("Inside", text)
        assert surfer.do(f"click('{ref}')").steps_done == 1


class TestHappenings:
    def test_dialogs_are_answered_and_told(self, surfer, ref):
        """Nothing waits for a person."""
        result = surfer.do(f"click('{ref('Ask')}')")
        assert "alert was confirmed: 'careful'" in result.text
        assert "confirm was declined: 'sure?'" in result.text
        assert status(result) == "answered false"

    def test_a_new_window_becomes_the_page(self, site, surfer, ref):
        """And it is said."""
        result = surfer.do(f"click('{ref('In a window')}')\nnoop(300)")
        assert result.title == "Second"
        assert "new window" in result.text

    def test_downloads_are_stopped_and_told(self, site, surfer):
        """Nothing is written to disk."""
        site.page(
            "/file",
            b"\0" * 10,
            Content_Type="application/zip",
            Content_Disposition="attachment; filename=a.zip",
        )
        site.html("/links", "<a href='/file'>Get</a>")
        ref = ref_of("Get", surfer.do(f"goto('{site.url}/links')").text)
        result = surfer.do(f"click('{ref}')\nnoop(300)")
        assert "download of 'a.zip' was stopped" in result.text


class TestFailure:
    def test_ends_the_call_at_the_first_step_that_fails(self, surfer, ref):
        """What came before was done, what comes after is not, and the page is shown."""
        button = ref("Press me")
        result = surfer.do(f"click('{button}')\nclick('e9999')\nhover('{button}')")
        assert (result.is_error, result.steps_done) == (True, 1)
        assert "no element e9999" in result.error
        assert "1 more not carried out" in result.error
        assert "clicked" in result.text

    def test_of_a_refused_step_reaches_nothing(self, surfer):
        """Code that is no list of calls starts nothing, not even the steps before."""
        result = surfer.do("goto('http://127.0.0.1/')\nimport os")
        assert (result.is_error, result.steps_done) == (True, 0)

    @pytest.mark.parametrize(
        "url",
        [
            "file:///etc/passwd",
            "javascript:alert(1)",
            "chrome://version",
            "example.org",
        ],
    )
    def test_is_what_other_addresses_get(self, surfer, url):
        """Only the web is opened."""
        assert "opens http:// and https://" in surfer.do(f"goto('{url}')").error

    def test_names_what_could_not_be_reached(self, surfer):
        """The reason is Chromium's own."""
        assert "ERR_CONNECTION_REFUSED" in surfer.do("goto('http://127.0.0.1:2/')").error

    @pytest.mark.slow
    def test_to_start_is_told(self):
        """A program that is no browser gives a sentence."""
        with Surfer(executable="/bin/true") as surfer:
            assert "No browser could be started" in surfer.do("noop(0)").text


def descendants() -> set[int]:
    return {p.pid for p in psutil.Process().children(recursive=True)}


class TestLife:
    @pytest.mark.slow
    def test_is_apart_from_others_and_leaves_nothing(self, site, surfer):
        """What one stores another does not have; one that is killed is replaced; `close` ends all.

        A picture is an option.
        """
        site.html(
            "/store",
            "<script>document.write('<h1>' + (localStorage.x || 'nobody') + '</h1>');"
            "localStorage.x = 'somebody'</script>",
        )
        go = f"goto('{site.url}/store')"
        assert 'heading "nobody"' in surfer.do(go).text
        assert 'heading "somebody"' in surfer.do(go).text
        other = Surfer(arguments=ONLY_HERE, allow_private=True, screenshot=False)
        before = descendants()
        [block] = other.do(go).content
        assert 'heading "nobody"' in block.text
        for pid in descendants() - before:
            if "chrom" in psutil.Process(pid).name():
                psutil.Process(pid).kill()
        eventually(lambda: other.do(f"goto('{site.url}/second')").title == "Second")
        started = descendants() - before
        assert len(started) > 2
        other.close()
        other.close()
        assert "closed" in other.do("noop(0)").text
        eventually(lambda: not any(map(alive, started)))

    def test_interrupt_ends_a_wait(self, surfer):
        """From another thread; the page stays."""
        surfer.do("noop(0)")
        with when(lambda: surfer._future is not None, surfer.interrupt):
            result = surfer.do("noop(60000)")
        assert "interrupted" in result.text
        assert not surfer.do("noop(0)").is_error

    @pytest.mark.slow
    def test_a_new_loop_gets_a_new_browser_and_none_outlives_the_kernel(self):
        """The loop a browser lived in may be closed; who is killed takes all along."""
        code = (
            "import sys\n"
            "from toolbench.core.background_loop import portal\n"
            "from toolbench.tools.browser import BrowserAction, BrowserExecutor\n"
            f"b = BrowserExecutor(arguments={ONLY_HERE!r}, allow_private=True)\n"
            "go = BrowserAction(code='goto(\"data:text/html,<title>T\")')\n"
            "print(b(go).title)\n"
            "portal.close()\n"
            "print(b(go).title, flush=True)\n"
            "sys.stdin.read()\n"
        )
        pipe = subprocess.PIPE
        with subprocess.Popen(
            [sys.executable, "-c", code], stdout=pipe, stdin=pipe, stderr=pipe
        ) as kernel:
            assert [kernel.stdout.readline() for _ in range(2)] == [b"T\n", b"T\n"]
            kids = psutil.Process(kernel.pid).children(recursive=True)
            started = [child.pid for child in kids]
            assert len(started) > 2
            kernel.kill()
        eventually(lambda: not any(map(alive, started)))


class TestOfThisMachine:
    """What leaves it is asked about, and where the browser may go is refused as web_read does."""

    @pytest.mark.slow
    def test_addresses_are_not_reached(self, site):
        """Neither by a step, nor by a page's own requests, scripts and frames."""
        with Surfer() as surfer:
            before = len(site.requests)
            result = surfer.do(f"goto('{site.url}/second')")
            assert result.is_error
            assert "is on this machine or a private network" in result.text
            html = (
                f"<img src='{site.url}/a'><iframe src='{site.url}/b'></iframe>"
                f"<script>fetch('{site.url}/c'); new WebSocket('ws' + '{site.url}/d'.slice(4));"
                f"open('{site.url}/e')</script>"
            )
            result = surfer.do(f"goto({'data:text/html,' + html!r})\nnoop(300)")
            assert result.text.count("is on this machine or a private network") == 1
            assert len(site.requests) == before

    @pytest.mark.slow
    def test_public_pages_lead_to_no_other(self, site, monkeypatch):
        """A page is loaded through the proxy; its redirect to a private address is refused."""

        async def resolver(host, port):
            return {"open.example": ["127.0.0.1"], "inner.example": ["10.0.0.7"]}[host]

        monkeypatch.setattr(addresses, "is_public", lambda address: address != "10.0.0.7")
        site.moved("/away", "http://inner.example/secret")
        public = site.url.replace("127.0.0.1", "open.example")
        with Surfer(resolver=resolver) as surfer:
            result = surfer.do(f"goto('{public}/second')")
            assert 'heading "Two"' in result.text
            result = surfer.do(f"goto('{public}/away')")
            assert result.is_error
            assert "'inner.example' leads to 10.0.0.7" in result.text
            assert 'heading "Two"' in surfer.do(f"goto('{public}/second')").text

    @pytest.mark.parametrize(("answer", "state"), [(False, "denied"), (True, "error")])
    def test_files_are_uploaded_with_a_yes_only(self, answer, state, tmp_path):
        """The question names each with its size; other steps ask nothing."""
        [browser] = BrowserTool.create()
        letter = tmp_path / "letter.txt"
        letter.write_text("x" * 1_234)
        questions = []

        def ask(question):
            questions.append(question.message)
            return Answer("accept", {"answer": answer})

        code = f"noop(0)\nupload_file('e3', ['{letter}', '{tmp_path}/none'])"
        browser.executor.close()
        run = Run(browser, {"code": code}, source="model", asker=ask)
        perform(run)
        assert run.state == state
        assert "because browser sends files of this machine to a page" in questions[0]
        assert f"    | {letter}, 1.2 kB\n    | {tmp_path}/none, no file\n" in questions[0]
        run = Run(browser, {"code": "noop(0)"}, source="model", asker=ask)
        perform(run)
        assert run.state == "error"
        assert len([each for each in questions if "Consent" in each]) == 1

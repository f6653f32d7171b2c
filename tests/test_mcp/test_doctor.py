"""The doctor names the step at which a connection fails, and never disagrees with a connect."""

import json
import signal
import sys
import threading

import pytest
from patience import PATIENCE, eventually, when

from test_mcp.peers import children, good, is_running, misbehaving, misbehaving_http, serving_app
from toolbench.errors import ConsentError, ServerError
from toolbench.mcp.config.reader import read_config
from toolbench.mcp.doctor import diagnose

ASKS = 'import os, sys; sys.exit("no licence in " + os.environ["LIB_API_KEY"])'
TALKS = 'print("ready"); import time; time.sleep(600)'


def python(*args, **more):
    """The entry of a program in Python."""
    return {"command": sys.executable, "args": list(args), **more}


def failed(entry, seconds=PATIENCE):
    """The first step of *entry* that fails; None if all are right."""
    steps = list(diagnose("lib", entry, seconds=seconds))
    return next((step for step in steps if step.state == "failed"), None)


class TestStep:
    """Each way to fail has its step; what comes later is not looked at."""

    @pytest.mark.parametrize(
        ("mode", "step"),
        [
            ("ok", None),
            ("junk-stdout", None),
            ("exit-at-start", "process"),
            ("wrong-version", "protocol version"),
            ("exit-on-list", "tools"),
            ("list-error", "tools"),
            ("claims-all", "resources"),
            ("bad-schemas", "schemas"),
        ],
    )
    def test_of_a_process_that_misbehaves(self, mode, step):
        """Also if the server lists what it cannot."""
        steps = list(diagnose("lib", misbehaving(mode), seconds=PATIENCE))
        names = [each.name for each in steps]
        bad = [each.name for each in steps if each.state == "failed"]
        assert names[0] == "configuration"
        assert names[-1] == "schemas"
        assert bad[:1] == ([step] if step else [])
        after = steps[names.index(step) + 1 :] if step else []
        assert all(each.words == "not looked at" or each.name == "schemas" for each in after)

    @pytest.mark.parametrize(
        ("mode", "step"),
        [
            ("ok", None),
            ("http-401", "authorization"),
            ("http-403", "authorization"),
            ("http-404", "HTTP"),
            ("http-html", "HTTP"),
            ("http-redirect", "HTTP"),
            ("http-empty", "protocol version"),
            ("wrong-version", "protocol version"),
        ],
    )
    def test_of_a_url_that_misbehaves(self, mode, step):
        with misbehaving_http(mode) as url:
            seen = failed(url)
        assert (seen and seen.name) == step

    @pytest.mark.parametrize(
        ("entry", "step", "words"),
        [
            ({"command": "no-such-program"}, "command", "on PATH?"),
            (python("-c", "def :"), "process", "SyntaxError"),
            (python("-c", ASKS), "process", "--env LIB_API_KEY"),
            (python("x.py", env={"KEY": "${env:NOT_SET_HERE}"}), "configuration", "NOT_SET_HERE"),
            ({"url": "https://127.0.0.1:9/mcp"}, "TCP", "Does the server run"),
            ({"url": f"http://{'a' * 64}.test/mcp"}, "DNS", "written right?"),
            (python("-c", "print('{}')", cwd="no/such/folder"), "command", "Create it"),
            ({"server": "no_such_file.py"}, "object", "There is no file"),
        ],
    )
    def test_of_a_wrong_configuration(self, entry, step, words):
        seen = failed(entry)
        assert seen.name == step
        assert words in f"{seen.words}. {seen.advice}"

    def test_of_a_proxy_that_cannot_be_read(self, monkeypatch):
        monkeypatch.setenv("HTTPS_PROXY", "http://user:s3cret-word@proxy.test:none")
        seen = failed("https://library.test/mcp")
        assert (seen.name, "NO_PROXY" in seen.advice) == ("proxy", True)
        assert "s3cret" not in str(seen)

    @pytest.mark.slow
    def test_of_a_program_that_never_answers(self):
        """Within the time limit; what it wrote instead is named."""
        seen = failed(python("-u", "-c", TALKS), seconds=3)
        assert seen.name == "first message"
        assert "'ready'" in seen.advice
        seen = failed(misbehaving("never-init"), seconds=3)
        assert seen.name == "first message"
        assert "--timeout" in seen.advice

    def test_of_tls(self, tls):
        """A certificate that is not trusted, and a port that does not speak TLS."""
        seen = failed(f"https://localhost:{tls}/mcp")
        assert (seen.name, "SSL_CERT_FILE" in seen.advice) == ("TLS", True)
        seen = failed(f"http://localhost:{tls}/mcp")
        assert (seen.name, "https://" in seen.advice) == ("HTTP", True)
        with misbehaving_http("ok") as url:
            seen = failed(url.replace("http:", "https:"))
        assert (seen.name, "http://" in seen.advice) == ("TLS", True)

    def test_of_a_login(self, monkeypatch, tmp_path):
        """It says where logins are made, and begins none."""
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
        monkeypatch.setattr("webbrowser.open", lambda page: pytest.fail(page))
        asked = []

        async def guarded(scope, receive, send):
            asked.append((scope["method"], scope["path"]))
            status, body = 401, {}
            if "well-known" in scope["path"]:
                status, body = 200, {"authorization_servers": ["https://login.test"]}
            kind = (b"content-type", b"application/json")
            await send({"type": "http.response.start", "status": status, "headers": [kind]})
            await send({"type": "http.response.body", "body": json.dumps(body).encode()})

        with serving_app(guarded) as url:
            entry = {"url": f"{url}/mcp", "auth": "oauth"}
            steps = {step.name: step for step in diagnose("lib", entry, seconds=PATIENCE)}
        assert "https://login.test" in steps[".well-known"].words
        assert "%mcp connect starts it" in steps["authorization"].advice
        assert {path for method, path in asked if method == "POST"} == {"/mcp"}


class TestDiagnosis:
    """Nothing is called, changed or left."""

    def test_agrees_with_a_connect(self, client):
        """Its reason is the one that a connect gives."""
        for mode in ("exit-at-start", "wrong-version"):
            with pytest.raises(ServerError) as error:
                client.connect(mode, misbehaving(mode))
            assert failed(misbehaving(mode)).words in str(error.value)

    def test_leaves_the_connected_session_and_no_process(self, client):
        session = client.connect("lib", good())
        pid, before = session.connection.pid, children()
        assert failed(session.portable_entry) is None
        assert (session.status, session.connection.pid) == ("connected", pid)
        eventually(lambda: not any(map(is_running, children() - before)))
        assert client.server("lib") is session

    def test_ends_with_an_interrupt(self):
        """No process is left then either."""
        # Where it is missing, the test is skipped before it waits for a process
        silent = misbehaving("never-init")
        before = children()
        main = threading.main_thread().ident
        with (
            when(lambda: children() - before, lambda: signal.pthread_kill(main, signal.SIGINT)),
            pytest.raises(KeyboardInterrupt),
        ):
            list(diagnose("lib", silent, seconds=PATIENCE))
        eventually(lambda: not any(map(is_running, children() - before)))

    def test_starts_nothing_of_a_file_that_is_not_approved(self, tmp_path):
        file = tmp_path / "mcp.json"
        file.write_text(json.dumps({"mcpServers": {"lib": good()}}))
        before = children()
        with pytest.raises(ConsentError):
            list(diagnose("lib", read_config(file)["lib"]))
        assert children() == before

    def test_shows_no_secret_and_no_escape_sequence(self):
        """Of the entry, or of what the server writes."""
        writes = 'import os, sys; sys.exit("\\x1b[2J" + os.environ["LIB_TOKEN"])'
        entry = python("-c", writes, "--api-key=s3cret-word", env={"LIB_TOKEN": "s3cret-sign"})
        shown = str(list(diagnose("lib", entry, seconds=PATIENCE)))
        assert "s3cret" not in shown
        assert "^[[2J" in shown
        assert "s3cret" not in str(failed("http://127.0.0.1:9/mcp?token=s3cret-word"))

"""The script that installs the peers: whole, once, and finished after an interruption."""

import pytest


@pytest.fixture
def place(script, tmp_path, monkeypatch):
    """A place for one package of PyPI, and the list of what was installed there."""
    place = tmp_path / "py" / "one"
    place.mkdir(parents=True)
    monkeypatch.setattr(script, "wanted", lambda: {place: ["a==1", "b==2"]})
    done = []
    monkeypatch.setattr(script, "install_python", lambda where, what: done.append(what))
    return place, done


class TestEnsure:
    def test_keeps_what_is_there(self, script, place):
        """What was installed once is not installed again."""
        where, done = place
        script.ensure(where), script.ensure(where)
        assert done == [["a==1", "b==2"]]
        assert script.missing() == []

    def test_finishes_what_was_interrupted(self, script, place, monkeypatch):
        """A place whose installation ended half-way is missing, and filled next time."""
        where, done = place
        install = script.install_python

        def interrupted(where, what):
            (where / "half").touch()
            raise KeyboardInterrupt

        monkeypatch.setattr(script, "install_python", interrupted)
        with pytest.raises(KeyboardInterrupt):
            script.ensure(where)
        assert script.missing() == [where]
        monkeypatch.setattr(script, "install_python", install)
        script.ensure(where)
        assert done == [["a==1", "b==2"]]

    def test_another_version_is_installed_over_it(self, script, place, monkeypatch):
        """A place counts for the packages it was filled with, for no others."""
        where, done = place
        script.ensure(where)
        monkeypatch.setattr(script, "wanted", lambda: {where: ["a==2"]})
        assert script.missing() == [where]
        script.ensure(where)
        assert done == [["a==1", "b==2"], ["a==2"]]


class TestMain:
    def test_a_clone_alone_gets_the_conformance_suite(self, script, tmp_path, monkeypatch, capsys):
        """Without the record of the servers only the suite and the app of ext-apps are installed; a line says so."""
        monkeypatch.setattr(script, "SERVERS", tmp_path / "servers.json")
        done = []
        monkeypatch.setattr(script, "ensure", done.append)
        monkeypatch.setattr(script, "ensure_others", lambda: None)
        assert script.main() == 0
        assert {place.name for place in done} == {"node", "conformance", "ext-apps"}
        output = capsys.readouterr().out
        assert f"no servers: {tmp_path / 'servers.json'} is missing" in output
        assert output.count("\n") == 1


class TestRun:
    def test_says_what_failed_with_the_words_of_the_command(self, script):
        """A registry that cannot be reached is an error with its reason."""
        with pytest.raises(script.InstallError, match="no such host"):
            script.run("sh", "-c", "echo no such host >&2; exit 3")


class TestPlaces:
    @pytest.mark.parametrize(
        ("recorded", "name", "packages"),
        [
            (
                "npm install --prefix {BASE}/npm/x --no-audit @s/x@1",
                "npm/x",
                ["@s/x@1"],
            ),
            (
                "python3.11 -m venv {BASE}/py/y && {BASE}/py/y/bin/pip install y==1 'z[c]==2'",
                "py/y",
                ["y==1", "z[c]==2"],
            ),
        ],
    )
    def test_are_those_of_the_record(self, script, recorded, name, packages):
        """The recorded command line says where a server is, and what it is."""
        assert script.place_of(recorded) == (script.PEERS / name, packages)

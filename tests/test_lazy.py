import sys

import pytest

from toolbench.lazy import lazily


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package with one public name in a module of its own."""
    home = tmp_path / "lazy_package"
    home.mkdir()
    (home / "__init__.py").write_text(
        "from toolbench.lazy import lazily\n"
        "__getattr__, __dir__ = lazily(__name__, {'Thing': 'home'}, {'Old': 'Thing'})\n"
    )
    (home / "home.py").write_text("class Thing: pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    import lazy_package

    yield lazy_package
    for name in [name for name in sys.modules if name.startswith("lazy_package")]:
        del sys.modules[name]


class TestLazily:
    def test_imports_what_is_asked_for(self, package):
        """The home of a name is imported with the first use of the name, not before."""
        assert "lazy_package.home" not in sys.modules
        assert package.Thing is sys.modules["lazy_package.home"].Thing

    def test_knows_older_names(self, package):
        """A name of older versions is the same object."""
        assert package.Old is package.Thing

    def test_lists_names_that_were_not_imported(self, package):
        """Tab completes all of them."""
        assert {"Thing", "Old"} <= set(dir(package))

    def test_refuses_other_names(self, package):
        """Any other name is missing as in any module."""
        with pytest.raises(AttributeError, match="'lazy_package' has no attribute 'x'"):
            _ = package.x

    def test_needs_no_older_names(self):
        """A package without a past has homes only."""
        get, _ = lazily("toolbench.core", {"Action": "schema"})
        assert get("Action").__name__ == "Action"


class TestPublicNames:
    @pytest.fixture
    def package(self, package, tmp_path):
        """The same package, which lists its name for type checkers only."""
        home = tmp_path / "listed_package"
        home.mkdir()
        (home / "__init__.py").write_text(
            "from typing import TYPE_CHECKING\n"
            "from toolbench.lazy import public_names\n"
            "if TYPE_CHECKING:\n"
            "    from lazy_package.home import Thing as Thing\n"
            "__getattr__, __dir__, __all__ = public_names(\n"
            "    __name__, packages=['below'], older={'Old': 'Thing'})\n"
        )
        (home / "below.py").write_text("x = 1\n")
        import listed_package

        yield listed_package
        for name in [n for n in sys.modules if n.startswith("listed_package")]:
            del sys.modules[name]

    def test_are_those_for_type_checkers(self, package):
        """One list is enough, also for a name from another package."""
        assert "lazy_package.home" not in sys.modules
        assert package.__all__ == ["Thing"]
        assert package.Old is package.Thing is sys.modules["lazy_package.home"].Thing

    def test_are_found_beside_the_packages_below(self, package):
        """What is below is an attribute without an import of it."""
        assert {"Thing", "Old", "below"} <= set(dir(package))
        assert package.below.x == 1
        with pytest.raises(AttributeError, match="no attribute 'x'"):
            _ = package.x

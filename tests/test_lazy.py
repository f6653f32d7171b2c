import sys

import pytest


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package with two public names, one of them older, in a module of its own."""
    home = tmp_path / "lazy_package"
    home.mkdir()
    (home / "__init__.py").write_text(
        "from typing import TYPE_CHECKING\n"
        "from toolbench.lazy import public_names\n"
        "if TYPE_CHECKING:\n"
        "    from lazy_package.home import Thing as Thing\n"
        "    from lazy_package.home import (\n"
        "        Thing as Old,\n"
        "    )\n"
        "\n"
        "__getattr__, __dir__, __all__ = public_names(__name__, packages=['below'])\n"
    )
    (home / "home.py").write_text("class Thing: pass\n")
    (home / "below.py").write_text("x = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    import lazy_package

    yield lazy_package
    for name in [name for name in sys.modules if name.startswith("lazy_package")]:
        del sys.modules[name]


class TestPublicNames:
    def test_are_those_for_type_checkers(self, package):
        """One list is enough; the home of a name is imported with its first use, not before."""
        assert "lazy_package.home" not in sys.modules
        assert package.__all__ == ["Old", "Thing"]
        assert package.Thing is sys.modules["lazy_package.home"].Thing

    def test_may_differ_from_the_name_at_home(self, package):
        """A name of an older version is the same object."""
        assert package.Old is package.Thing

    def test_are_listed_beside_the_packages_below(self, package):
        """Tab completes all of them, and what is below is an attribute without an import."""
        assert {"Thing", "Old", "below"} <= set(dir(package))
        assert package.below.x == 1

    def test_refuse_other_names(self, package):
        """Any other name is missing as in any module."""
        with pytest.raises(AttributeError, match="'lazy_package' has no attribute 'x'"):
            _ = package.x

"""The public names of the layer."""

import toolbench.display as display


def test_all_names_exist_in_order():
    """`__all__` is sorted, complete and true."""
    public = {
        name
        for name, value in vars(display).items()
        if not name.startswith("_") and getattr(value, "__module__", "").startswith("toolbench")
    }
    assert display.__all__ == sorted(display.__all__)
    assert set(display.__all__) == public

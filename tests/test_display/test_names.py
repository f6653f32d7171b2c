"""The public names of the layer."""

import subprocess
import sys

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


def test_no_widgets_and_no_kernel_are_loaded():
    """Showing something in a script costs neither IPython, ipywidgets nor pandas."""
    heavy = "{'IPython', 'ipywidgets', 'pandas', 'fastmcp', 'jsonschema_rs'}"
    code = f"import sys, toolbench.display; print(sorted({heavy} & set(sys.modules)))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"

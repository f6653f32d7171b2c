"""Import modules of the package alone, and print why one cannot be: each a line on stdout.

Layers are loaded from below. Those below a module cannot need it, so that it does not matter that
they are there: what is imported in the place of the first of its layer is the module in question.
"""

import gc
import os
import sys
from importlib import import_module
from pathlib import Path
from random import Random


def modules(package, name):
    """The module of this name, and those below it, by their full names."""
    home = package / name
    files = home.rglob("*.py") if home.is_dir() else [home.with_suffix(".py")]
    paths = sorted(f.relative_to(package.parent).with_suffix("") for f in files)
    return [
        ".".join(path.parts).removesuffix(".__init__")
        for path in paths
        if "template" not in path.parts
    ]


def fault(module):
    """Import *module* in a fork of this process; return what came of it, empty if all is well."""
    reading, writing = os.pipe()
    if pid := os.fork():
        os.close(writing)
        with os.fdopen(reading, encoding="utf-8") as pipe:
            text = pipe.read()
        os.waitpid(pid, 0)
        return text
    text = ""
    try:
        import_module(module)
    # Also what ends a process
    except BaseException as error:  # noqa: BLE001
        text = f"{type(error).__name__}: {error}"
    os.write(writing, text.encode())
    os._exit(0)


def main(package, part, others, layers):
    """Go through *layers* from below, each a text of names; print faults, and how many were tried.

    The modules *others* are loaded before. One module of *part* is drawn, the same ones each time.
    """
    # Nothing is collected while modules load, in no fork
    gc.disable()
    sys.path.insert(0, str(package.parent))
    for other in others:
        import_module(other)
    import_module(package.name)
    always, total = set(sys.modules), 0
    for layer in layers:
        names = [module for name in layer.split() for module in modules(package, name)]
        drawn = Random(layer).sample(names, -(-len(names) // part))
        total += len(drawn)
        faults = {}
        for module in drawn:
            assert module not in sys.modules or module in always, module
            if text := fault(module):
                faults[module] = text
        # Those that can be imported first, first
        for module in sorted(names, key=lambda name: name in faults):
            import_module(module)
        for module, text in faults.items():
            print(f"{module}: {text}")
    print(f"{total} modules")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3].split(), sys.argv[4:])

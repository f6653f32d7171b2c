"""Make what a visitor of JupyterLite loads smaller: wheels without what no page reads, and Python's WebAssembly packed.

A web server compresses text at best: a wheel and WebAssembly are as large on their way as on disk.
"""

import gzip
import re
import zipfile
from pathlib import Path

UNREAD = {
    # Descriptions of packages that a page does not have; those of Python's own library stay for completion
    "jedi": r"jedi/third_party/(django-stubs|typeshed/(stubs|third_party))/",
    # JupyterLite has these extensions beside the wheels
    "anywidget": r"anywidget-[^/]*\.data/|anywidget/(labextension|nbextension)/",
    "jupyterlab_widgets": r"jupyterlab_widgets-[^/]*\.data/",
    # pydantic 1, which does not run on Python 3.14
    "pydantic": r"pydantic/v1/",
    "ipython": r"IPython/(sphinxext|testing/plugin)/",
}
"""What is left out of a wheel, by its name."""
WASM, PACKED = "pyodide.asm.wasm", "pyodide.asm.wasm-packed"
"""The suffix is one that no server takes for a compressed file, which it might unpack itself."""
STREAM = "await WebAssembly.instantiateStreaming(n,s)"
UNPACKED = (
    "await WebAssembly.instantiateStreaming(n.then(r=>{"
    "if(!r.ok)throw new Error(`HTTP ${r.status}: ${r.url}`);"
    'return new Response(r.body.pipeThrough(new DecompressionStream("gzip")),'
    '{headers:{"Content-Type":"application/wasm"}})}),s)'
)


def trim_wheels(folder: Path) -> None:
    """Leave out of the wheels in *folder* what no page reads, with its lines of their lists of files.

    Raises:
        SystemExit: A wheel has nothing of what was to be left out: it is another version.
    """
    for name, unread in UNREAD.items():
        [wheel] = folder.glob(f"{name}-*.whl")
        before = wheel.stat().st_size
        _write_without(wheel, re.compile(unread))
        if wheel.stat().st_size >= before:
            message = f"{wheel.name} has no files that match {unread}: change UNREAD in {__file__}."
            raise SystemExit(message)


def _write_without(wheel: Path, unread: re.Pattern[str]) -> None:
    """Write *wheel* anew without the files that match; its RECORD names only what is there."""
    trimmed = wheel.with_suffix(".trimmed")
    with zipfile.ZipFile(wheel) as source, zipfile.ZipFile(trimmed, "w") as target:
        for info in source.infolist():
            if unread.match(info.filename):
                continue
            data = source.read(info)
            if info.filename.endswith(".dist-info/RECORD"):
                lines = data.decode().splitlines(keepends=True)
                data = "".join(line for line in lines if not unread.match(line)).encode()
            target.writestr(info, data, zipfile.ZIP_DEFLATED, compresslevel=9)
    trimmed.replace(wheel)


def pack_wasm(package: Path) -> None:
    """Pack Python's WebAssembly in the folder *package* of Pyodide, and let its loader unpack it as it streams.

    Raises:
        SystemExit: This is another Pyodide, whose loader does not have both places once.
    """
    loader = package / "pyodide.mjs"
    text = loader.read_text("utf-8")
    if text.count(f'"{WASM}"') != 1 or text.count(STREAM) != 1:
        message = (
            f"pyodide.mjs does not load {WASM} as 314.0.7 does: change scripts/smaller_page.py."
        )
        raise SystemExit(message)
    loader.write_text(text.replace(f'"{WASM}"', f'"{PACKED}"').replace(STREAM, UNPACKED), "utf-8")
    wasm = package / WASM
    # The time is left out, so that the same file has the same bytes
    (package / PACKED).write_bytes(gzip.compress(wasm.read_bytes(), 9, mtime=0))
    wasm.unlink()

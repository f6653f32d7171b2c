from browser.lab import write_notebook
from browser.test_panel import look
S = '''
%load_ext toolbench
import tempfile, pathlib
from toolbench.tools.file_editor import FileEditorTool
from toolbench import tool, Observation, TextContent, ImageContent
from toolbench.widgets.panel import ToolPanel
import pandas as pd
d = pathlib.Path(tempfile.mkdtemp()) / "x.py"
d.write_text("def f(a):\\n    return a\\n\\n" + "\\n".join(f"x{n} = {n}" for n in range(9)))
[ed] = FileEditorTool.create()
p = ToolPanel(ed, {"command": "str_replace", "path": str(d), "old_str": "    return a", "new_str": "    # double\\n    return 2 * a"})
p.run(confirm=False)._ = 0
p
'''
T = '''
@tool
def frame(n: int = 6) -> object:
    "A table."
    return pd.DataFrame({"name": [f"row {i}" for i in range(n)], "value": [i * 1.5 for i in range(n)]})
q = ToolPanel(frame); q.run()
q
'''
U = '''
import base64, zlib, struct
def png(w, h):
    raw = b"".join(b"\\0" + bytes((x * 4 % 256, y * 6 % 256, 120)) * 1 for y in range(h) for x in [0])
    rows = b"".join(b"\\0" + b"".join(bytes((x * 2 % 256, y * 3 % 256, 120)) for x in range(w)) for y in range(h))
    def c(t, b): return struct.pack(">I", len(b)) + t + b + struct.pack(">I", zlib.crc32(t + b))
    return b"\\x89PNG\\r\\n\\x1a\\n" + c(b"IHDR", struct.pack(">IIBBBBB", w, h, 8, 2, 0, 0, 0)) + c(b"IDAT", zlib.compress(rows)) + c(b"IEND", b"")
@tool
def picture() -> Observation:
    "A picture."
    url = "data:image/png;base64," + base64.b64encode(png(120, 80)).decode()
    return Observation(content=[TextContent(text="# Title\\n\\n- *one*\\n- two"), ImageContent(image_urls=[url])])
r = ToolPanel(picture); r.run()
r
'''
def test_look(lab, nbroot):
    write_notebook(nbroot / "lk.ipynb", S.replace("._ = 0", ""), T, U)
    lab.open("lk.ipynb"); lab.run_all(); assert lab.errors() == []
    lab.wait_for_text("What the model reads", within=lab.output(2))
    for n, name in ((0, "diff"), (1, "frame"), (2, "image")):
        look(lab, n, "result-" + name)

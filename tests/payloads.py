"""Hostile text: none of it may ever run, load anything, or leave the element it is shown in.

`tripwire()` is what a payload calls when it runs; `tripwire.invalid` is the host it asks for
when it loads. A browser test defines the first, refuses the second, and counts both.

Whatever makes HTML of a text is tried with all of them in one test (tests/test_display). A view, which
only puts that together, is tried with a few: each in a test of its own (`each_payload`), or together
where a test needs a server or a large page (`some_payloads`).
"""

import pytest

_RUN = "tripwire()"
_HOST = "https://tripwire.invalid/x"

_ELEMENTS = [
    f"<script>{_RUN}</script>",
    f"<SCRIPT SRC={_HOST}.js></SCRIPT>",
    f"<img src=x onerror={_RUN}>",
    f"<img src={_HOST}.png>",
    f"<IMG/SRC=x/ONERROR={_RUN}>",
    f"<svg onload={_RUN}>",
    f"<svg><script>{_RUN}</script></svg>",
    f"<svg><animate onbegin={_RUN} attributeName=x dur=1s>",
    f'<math><a xlink:href="javascript:{_RUN}">x</a></math>',
    f'<iframe srcdoc="<script>parent.{_RUN}</script>"></iframe>',
    f"<iframe src=javascript:{_RUN}>",
    f"<object data=javascript:{_RUN}>",
    f"<embed src={_HOST}.swf>",
    f"<body onload={_RUN}>",
    f"<details open ontoggle={_RUN}>",
    f"<video><source onerror={_RUN}></video>",
    f"<input autofocus onfocus={_RUN}>",
    f'<form action="{_HOST}"><button>Run</button></form>',
    f"<style>@import '{_HOST}.css';</style>",
    f'<link rel=stylesheet href="{_HOST}.css">',
    f'<meta http-equiv=refresh content="0;url={_HOST}">',
    f'<base href="{_HOST}">',
    f"<marquee onstart={_RUN}>",
    "<textarea>",
    "<!-- ",
    "<![CDATA[",
    "<?php",
    f'<noscript><p title="</noscript><img src=x onerror={_RUN}>">',
]

_BREAK_OUT = [
    f'"><img src=x onerror={_RUN}>',
    f"'><img src=x onerror={_RUN}>",
    f"</pre><img src=x onerror={_RUN}>",
    f"</span></div></details></td></table><script>{_RUN}</script>",
    f'" onmouseover="{_RUN}',
    f"' onmouseover='{_RUN}",
    f"` onmouseover=`{_RUN}",
    f'\\"><script>{_RUN}</script>',
    f"</script><script>{_RUN}</script>",
    f"&lt;img src=x onerror={_RUN}&gt;",
    f"&#60;script&#62;{_RUN}&#60;/script&#62;",
    f"<scr\x00ipt>{_RUN}</scr\x00ipt>",
    f"<img src=x one\x0brror={_RUN}>",
    f'color:red;background:url("{_HOST}.png")',
    f'";background:url({_HOST}.png);"',
]

_ADDRESSES = [
    f"javascript:{_RUN}",
    f"JaVaScRiPt:{_RUN}",
    f"java\tscript:{_RUN}",
    f" javascript:{_RUN}",
    f"\x01javascript:{_RUN}",
    f"javascript://x/%0a{_RUN}",
    f"vbscript:{_RUN}",
    f"data:text/html,<script>{_RUN}</script>",
    "data:text/html;base64,PHNjcmlwdD50cmlwd2lyZSgpPC9zY3JpcHQ+",
    f"data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' onload='{_RUN}'/>",
    "data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciPjxzY3JpcHQ+dHJpcHdpcmUoKTwvc2NyaXB0Pjwvc3ZnPg==",
    f'data:image/png" onerror="{_RUN}',
    f'data:image/png;base64,AAAA" onerror="{_RUN}',
    f'https://tripwire.invalid/" onmouseover="{_RUN}',
    f"https://tripwire.invalid/'onmouseover='{_RUN}",
    "//tripwire.invalid/x",
    "file:///etc/passwd",
    "blob:https://tripwire.invalid/1",
    "#<!doctype",
]

_MARKDOWN = [
    f"[x](javascript:{_RUN})",
    f"[x](<javascript:{_RUN}>)",
    f"[x](java&#x0A;script:{_RUN})",
    f"[x](javascript&colon;{_RUN})",
    f"[x][r]\n\n[r]: javascript:{_RUN}",
    f"<javascript:{_RUN}>",
    f'[x]({_HOST} "\\" onmouseover={_RUN}")',
    f'[x]({_HOST}"onmouseover="{_RUN})',
    f"![x]({_HOST}.png)",
    f"![x](x' onerror='{_RUN})",
    f"[![x]({_HOST}.png)](javascript:{_RUN})",
    f"![x](data:image/svg+xml,<svg/onload={_RUN}>)",
    f"```html onclick={_RUN}\n<script>{_RUN}</script>\n```",
    f"`<script>{_RUN}</script>`",
    f"# <img src=x onerror={_RUN}>",
    f"| a |\n|---|\n| <img src=x onerror={_RUN}> |",
    f"$\\href{{javascript:{_RUN}}}{{x}}$ \\(\\unicode{{60}}\\) $$\\require{{html}}$$",
]

_TERMINAL = [
    f"\x1b]8;;javascript:{_RUN}\x1b\\click\x1b]8;;\x1b\\",
    f'\x1b]8;;https://x" onmouseover="{_RUN}\x1b\\click\x1b]8;;\x1b\\',
    f"\x1b]8;;https://x'onmouseover='{_RUN}\x07click\x1b]8;;\x07",
    f'\x1b]8;id="><script>{_RUN}</script>;{_HOST}\x07click',
    f"\x1b]0;<script>{_RUN}</script>\x07",
    f"\x1b]8;;{_HOST}<script>{_RUN}</script>",
    f"\x1b]1337;File=inline=1:<img src=x onerror={_RUN}>\x07",
    f"\x1b[31m<script>{_RUN}</script>\x1b[0m",
    f'\x1b[38;2;"><script>{_RUN}</script>m',
    f"\x1b[<img src=x onerror={_RUN}>m",
    f"safe\r<img src=x onerror={_RUN}>",
    f"<scri\bipt>{_RUN}</script>",
    f"\x1bP<script>{_RUN}</script>\x1b\\",
    f"\x9d8;;javascript:{_RUN}\x9cclick",
    f"\u202e<script>{_RUN}</script>\u202c",
    f"[link=javascript:{_RUN}]x[/link][/nothing]",
]

_JSON = [
    f'{{"<img src=x onerror={_RUN}>": "<script>{_RUN}</script>"}}',
    f'{{"\\u003cscript\\u003e": ["\\u003cimg src=x onerror={_RUN}\\u003e"]}}',
    f'{{"__proto__": {{"x": "</summary><script>{_RUN}</script>"}}}}',
    f'["\\u0022 onmouseover=\\u0022{_RUN}"]',
]

PAYLOADS = [
    *_ELEMENTS,
    *_BREAK_OUT,
    *_ADDRESSES,
    *_MARKDOWN,
    *_TERMINAL,
    *_JSON,
]

ONE_OF_EACH_KIND = [
    kind[0] for kind in (_ELEMENTS, _BREAK_OUT, _ADDRESSES, _MARKDOWN, _TERMINAL, _JSON)
]
each_payload = pytest.mark.parametrize(
    "payload",
    [
        pytest.param(text, marks=[pytest.mark.corner] if text in ONE_OF_EACH_KIND else [])
        for text in PAYLOADS
    ],
)
some_payloads = pytest.mark.parametrize(
    "payloads",
    [ONE_OF_EACH_KIND, pytest.param(PAYLOADS, marks=pytest.mark.long)],
    ids=["one of each kind", "all"],
)

"""The fifteen coroutine functions that a model can call with the browser tool.

Their names and parameters come from BrowserGym's action space. The parameter `bid` is the ref of an
element, as the snapshot of the page shows it. The docstrings are the text that the model reads.
"""

import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from toolbench.tools.failure_sentence import RunError

Button = Literal["left", "middle", "right"]
Modifier = Literal["Alt", "Control", "ControlOrMeta", "Meta", "Shift"]

_REF = re.compile(r"\[?(?:aria-)?(?:ref=)?((?:f\d+)?e\d+)\]?")
_SCHEMES = ("http", "https", "about", "data")
# Milliseconds
_LONGEST_WAIT = 60_000


async def _element(page: Any, bid: str) -> Any:
    """Return the element of *page* that has the ref *bid* in the newest snapshot."""
    ref = _REF.fullmatch(bid.strip())
    if ref is None:
        msg = f"{bid!r} is not the ref of an element: take one like e12 from the snapshot."
        raise RunError(msg)
    element = page.locator(f"aria-ref={ref[1]}")
    if await element.count() == 0:
        msg = f"The page has no element {ref[1]}: take a ref from the newest snapshot."
        raise RunError(msg)
    return element


async def goto(page: Any, url: str) -> None:
    """Open an address: http, https, about or data.

    goto('http://www.example.com')
    """
    if urlsplit(url.strip()).scheme.lower() not in _SCHEMES:
        msg = f"The browser opens http:// and https:// addresses, not {url!r}."
        raise RunError(msg)
    await page.goto(url.strip(), wait_until="domcontentloaded")


async def go_back(page: Any) -> None:
    """Go to the page before this one, as the Back button does.

    go_back()
    """
    await page.go_back(wait_until="domcontentloaded")


async def go_forward(page: Any) -> None:
    """Go to the page after this one, as the Forward button does.

    go_forward()
    """
    await page.go_forward(wait_until="domcontentloaded")


async def noop(page: Any, wait_ms: float = 1000) -> None:
    """Wait wait_ms milliseconds, at most 60,000, and look at the page again.

    noop()
    noop(500)
    """
    await page.wait_for_timeout(max(0.0, min(wait_ms, _LONGEST_WAIT)))


async def scroll(page: Any, delta_x: float, delta_y: float) -> None:
    """Turn the mouse wheel: pixels to the right and down; negative numbers mean left and up.

    scroll(0, 200)
    scroll(-50.2, -100.5)
    """
    await page.mouse.wheel(delta_x, delta_y)


async def fill(page: Any, bid: str, value: str) -> None:
    r"""Put text into a field, in place of its old text.

    fill('e12', 'example value')
    fill('e45', 'multi-line\nexample')
    """
    await (await _element(page, bid)).fill(value)


async def select_option(page: Any, bid: str, options: str | list[str]) -> None:
    """Choose one or several options of a select element, by their value or their visible text.

    select_option('e48', 'blue')
    select_option('e48', ['red', 'green'])
    """
    await (await _element(page, bid)).select_option(options)


async def click(
    page: Any,
    bid: str,
    button: Button = "left",
    modifiers: list[Modifier] = [],  # noqa: B006 - as in BrowserGym; the list is never changed
) -> None:
    """Click an element.

    click('e51')
    click('e48', button='middle', modifiers=['Shift'])
    """
    await (await _element(page, bid)).click(button=button, modifiers=modifiers)


async def dblclick(
    page: Any,
    bid: str,
    button: Button = "left",
    modifiers: list[Modifier] = [],  # noqa: B006 - as in BrowserGym; the list is never changed
) -> None:
    """Click an element twice.

    dblclick('e12')
    """
    await (await _element(page, bid)).dblclick(button=button, modifiers=modifiers)


async def hover(page: Any, bid: str) -> None:
    """Move the mouse over an element.

    hover('e8')
    """
    await (await _element(page, bid)).hover()


async def press(page: Any, bid: str, key_comb: str) -> None:
    """Focus an element, and press a key or several keys together.

    press('e88', 'Enter')
    press('e26', 'Control+a')
    """
    await (await _element(page, bid)).press(key_comb)


async def focus(page: Any, bid: str) -> None:
    """Focus an element.

    focus('e45')
    """
    await (await _element(page, bid)).focus()


async def clear(page: Any, bid: str) -> None:
    """Empty a field.

    clear('e99')
    """
    await (await _element(page, bid)).clear()


async def drag_and_drop(page: Any, from_bid: str, to_bid: str) -> None:
    """Drag one element onto another.

    drag_and_drop('e56', 'e49')
    """
    await (await _element(page, from_bid)).drag_to(await _element(page, to_bid))


async def upload_file(page: Any, bid: str, file: str | list[str]) -> None:
    """Give one or more files to an upload field, or to the button that asks for them.

    upload_file('e57', '/home/you/receipt.pdf')
    """
    files = [file] if isinstance(file, str) else file
    missing = next((f for f in files if not Path(f).is_file()), None)
    if missing is not None:
        msg = f"There is no file {missing!r} to upload. Give the path of an existing file."
        raise RunError(msg)
    element = await _element(page, bid)
    if await element.evaluate("e => e.matches('input[type=file]')"):
        await element.set_input_files(files)
        return
    async with page.expect_file_chooser() as chooser:
        await element.click()
    await (await chooser.value).set_files(files)


Function = Callable[..., Awaitable[None]]

FUNCTIONS: dict[str, Function] = {
    function.__name__: function
    for function in (
        *(goto, go_back, go_forward, noop, scroll, fill, select_option, click),
        *(dblclick, hover, press, focus, clear, drag_and_drop, upload_file),
    )
}
"""The functions that a model can call, by name."""

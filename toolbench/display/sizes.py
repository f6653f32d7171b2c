"""Write sizes of data as text (`12.3 kB`), and estimate the tokens that a text costs a model."""

from math import ceil

# Bytes per token, for English text and JSON with most tokenizers
_TOKEN = 4
# The number of samples, and characters of each
_SAMPLES, _SAMPLE = 64, 16_384


def human_size(count: int) -> str:
    """Return *count*, a number of bytes, in decimal units: `12.3 kB`."""
    if count < 1000:
        return f"{count} bytes"
    size = count / 1000
    for unit in ("kB", "MB"):
        # As it is rounded: 999,999 bytes are 1.0 MB
        if size < 999.95:
            return f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:,.1f} GB"


def estimate_tokens(text: str) -> int:
    """Return about how many tokens *text* costs: a quarter of its UTF-8 bytes, rounded up.

    Compared with OpenAI's o200k, the estimate is 8 % too high for code, 6 % too low for English
    and 22 % too low for JSON Schema. In a very long text with other characters than ASCII, only
    samples are counted.
    """
    if text.isascii():
        return ceil(len(text) / _TOKEN)
    if len(text) <= _SAMPLES * _SAMPLE:
        return ceil(_bytes(text) / _TOKEN)
    step = (len(text) - _SAMPLE) // (_SAMPLES - 1)
    places = (number * step for number in range(_SAMPLES))
    sampled = sum(_bytes(text[place : place + _SAMPLE]) for place in places)
    return ceil(len(text) * sampled / (_SAMPLES * _SAMPLE) / _TOKEN)


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))

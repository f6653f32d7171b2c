"""Say how large something is: for a person, and for a model's context window."""

from math import ceil

_TOKEN = 4  # bytes: what English text and JSON come to with most tokenizers


def counted(count: int, noun: str) -> str:
    """Return *count* things in words: `1 row`, `1,234 rows`; *noun* takes an s."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def human_size(count: int) -> str:
    """Return *count* bytes in decimal units: `12.3 kB`."""
    size = float(count)
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{count} bytes" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:,.1f} GB"


def estimate_tokens(text: str) -> int:
    """Return about how many tokens *text* costs: a quarter of its UTF-8 bytes, rounded up."""
    return ceil(len(text.encode("utf-8", "surrogatepass")) / _TOKEN)

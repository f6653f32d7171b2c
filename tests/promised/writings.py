"""The writings of a secret that are promised to be hidden: ../shared/design/architecture.md, Secrets."""

import json
import shlex
from base64 import b64encode, urlsafe_b64encode
from html import escape
from urllib.parse import quote, quote_plus

ODD = 'p@ss/w+rd "it\'s" <ü&> ~?~?~'
KEY = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhki\n-----END KEY-----"


def base64_at(offset, encode=b64encode):
    return lambda secret: [encode(b"user:"[:offset] + secret.encode()).decode()]


# What is written, in the pieces in which a stream gets it
WRITINGS = {
    "as it is": lambda secret: [secret],
    "a line of it": lambda secret: [secret.splitlines()[-2 if "\n" in secret else -1]],
    "JSON": lambda secret: [json.dumps(secret)],
    "JSON in JSON": lambda secret: [json.dumps(json.dumps(secret))],
    "URL": lambda secret: [quote(secret, safe="")],
    "URL with plus": lambda secret: [quote_plus(secret)],
    "HTML": lambda secret: [escape(secret)],
    "repr": lambda secret: [repr(secret)],
    "shell": lambda secret: [shlex.quote(secret)],
    "CSV": lambda secret: [secret.replace('"', '""')],
    "base64": base64_at(0),
    "base64, one on": base64_at(1),
    "base64, two on": base64_at(2),
    "URL-safe base64": base64_at(0, urlsafe_b64encode),
    "hex": lambda secret: [secret.encode().hex()],
    "coloured": lambda secret: [f"{secret[:5]}\x1b[31m{secret[5:9]}\x1b[0m{secret[9:]}"],
    "two writes": lambda secret: [secret[:9], secret[9:]],
}

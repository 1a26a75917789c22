"""What the scripts of a report's page read."""

from __future__ import annotations

import base64
import gzip
import re


def packed(html: str) -> dict[str, str]:
    """The texts, by name: figures of plotly in JSON, and tables."""
    found = re.findall(r'<script type="text/plain" id="([\w-]+)-packed">(.*?)</script>', html, re.S)
    return {name: gzip.decompress(base64.b64decode(text)).decode() for name, text in found}

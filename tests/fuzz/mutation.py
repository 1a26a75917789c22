"""How good input is spoilt: bytes, lines, cells and values."""

from random import Random

NUMBERS = (
    "0", "-0", "1", "-1", "2", "1.5", "-1e-300", "5e-324", "1e-9", "1e9", "1e10", "1e15", "1e16",
    "1e300", "1e308", "1e400", "-1e400", "nan", "-nan", "inf", "-inf", "infinity", "NaN",
    "9007199254740993", "2147483648", "-2147483649", "9223372036854775807", "9223372036854775808",
    "-9223372036854775809", "9" * 20, "9" * 400, "9" * 5000, "1_000", "1,000", "0x10", "0b1", "1e",
    "e1", ".", "+", "-", "--1", "1.0.0", "١٢", "²", "½", " 1 ", "1 2",
)  # fmt: skip
TEXTS = (
    "", " ", "\t", "\n", "\r", "\0", "\x07", "\x1b[2J", "\x1b]0;x\x07", "\x7f", "\u202e", "\ufeff",
    "\u2028", "\U0001f600", "a" * 300, "=1+1", "=cmd|' /C calc'!A0", "@SUM(1)", "'", '"', '""', "'\"",
    "\\", "/", "..", "../../etc/passwd", "~", "~nosuchuser", "$HOME", "`id`", ";", ",", "|", ":", "?",
    "&", "*", "[", "]", "{", "}", "(", ")", "<b>", "%s", "%n", "{0}", "null", "None", "true", "True",
    "NaT", "2023-01-01 00:00:00", "9999-12-31 23:59:59", "0001-01-01", "2023-13-45", "job_id", "gpus",
    "fifo", "las", "__class__", "philly", "csv:t.csv", "1x1", "x", "é", "漢字",
)  # fmt: skip
TOKENS = (*NUMBERS, *TEXTS)


def spoilt(rng: Random, content: bytes) -> bytes:
    """The content with a few things changed; sometimes it is left as it was."""
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3, 6))):
        content = rng.choice(
            (_bits, _cut, _insert, _repeat, _truncate, _lines, _cells, _cells, _cells, _cells)
        )(rng, content)
    return content


def token(rng: Random) -> str:
    """A value that is likely to be wrong where it is put."""
    if rng.random() < 0.1:
        return "".join(chr(rng.randrange(1, 0x250)) for _ in range(rng.randrange(12)))
    return rng.choice(TOKENS)


def spoilt_text(rng: Random, text: str) -> str:
    """A line of text, such as a spec, with a few characters changed."""
    for _ in range(rng.choice((0, 1, 1, 2, 3))):
        at = rng.randrange(len(text) + 1)
        end = min(len(text), at + rng.choice((0, 0, 1, 1, 2, 5)))
        text = text[:at] + rng.choice((token(rng), rng.choice(",:=?&+x-.|/"), "")) + text[end:]
    return text


def _bits(rng: Random, content: bytes) -> bytes:
    changed = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 8))):
        if changed:
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _place(rng: Random, content: bytes) -> tuple[int, int]:
    start = rng.randrange(len(content) + 1)
    return start, min(len(content), start + rng.choice((1, 2, 5, 20, 200)))


def _cut(rng: Random, content: bytes) -> bytes:
    start, end = _place(rng, content)
    return content[:start] + content[end:]


def _insert(rng: Random, content: bytes) -> bytes:
    start, _ = _place(rng, content)
    piece = token(rng).encode() if rng.random() < 0.7 else rng.randbytes(rng.randrange(1, 40))
    return content[:start] + piece + content[start:]


def _repeat(rng: Random, content: bytes) -> bytes:
    start, end = _place(rng, content)
    return content[:start] + content[start:end] * rng.choice((2, 3, 50)) + content[end:]


def _truncate(rng: Random, content: bytes) -> bytes:
    return content[: rng.randrange(len(content) + 1)]


def _lines(rng: Random, content: bytes) -> bytes:
    lines = content.split(b"\n")
    at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    action = rng.randrange(4)
    if action == 0:
        lines[at], lines[other] = lines[other], lines[at]
    elif action == 1:
        del lines[at]
    elif action == 2:
        lines.insert(other, lines[at])
    return (b"\r\n" if action == 3 else b"\n").join(lines)


def _cells(rng: Random, content: bytes) -> bytes:
    """Puts a token in the place of one cell, or of one value behind an equals sign or a colon."""
    lines = content.split(b"\n")
    at = rng.randrange(len(lines))
    for mark in rng.sample((b",", b"\t", b"=", b":", b"|", b" "), 6):
        cells = lines[at].split(mark)
        if len(cells) > 1:
            cells[rng.randrange(len(cells))] = token(rng).encode()
            lines[at] = mark.join(cells)
            break
    return b"\n".join(lines)

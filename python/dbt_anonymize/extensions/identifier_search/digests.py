"""Recognize plain hashes of texts, without a key."""

from __future__ import annotations

import base64
import hashlib
import re
import zlib
from collections.abc import Iterator

_ALGORITHMS = ("md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha3_256")
_NO_DIGIT = re.compile(r"[^0-9]+")
_NOT_OF_DIGESTS = re.compile(r"[^0-9a-z]+")
_PREFIX = re.compile(r"^(0x|\\x)")
_HEXADECIMAL = re.compile("[0-9a-f]+")
# Digests may be cut, but shorter texts match by accident.
_SHORTEST, _SHORTEST_NUMBER, _SHORTEST_BASE_64 = 7, 5, 12
# Hexadecimal digits at either end of a digest that are read as a number.
_AS_NUMBER = (7, 8, 12, 13, 15, 16)


def is_digest_of(text: str, value: str) -> bool:
    """Tell whether a text is a plain hash of a value, or an end of one.

    Examples
    --------
    >>> is_digest_of("900150983CD24FB0D6963F7D28E17F72", "abc"), is_digest_of("891568578", "abc")
    (True, True)
    >>> is_digest_of("abc", "abc"), is_digest_of("900150983cd24fb1", "abc")
    (False, False)
    """
    digest = _NOT_OF_DIGESTS.sub("", _PREFIX.sub("", text.lower()))
    number = int(digest) if digest.isdecimal() and len(digest) >= _SHORTEST_NUMBER else None
    is_text = len(digest) >= (_SHORTEST if _HEXADECIMAL.fullmatch(digest) else _SHORTEST_BASE_64)
    if number is None and not is_text:
        return False
    return any(
        number in numbers
        or (is_text and (digest_text.startswith(digest) or digest_text.endswith(digest)))
        for digest_text, numbers in _digests(value)
    )


def _digests(value: str) -> Iterator[tuple[str, set[int]]]:
    """Yield each digest of a value as text, and as the numbers derived from it."""
    digits = _NO_DIGIT.sub("", value)
    for text in {value, value.strip(), value.lower(), value.upper(), digits, digits.lstrip("0")}:
        content = text.encode("utf-8", "surrogatepass")
        checksum = zlib.crc32(content)
        yield f"{checksum:08x}", {checksum, checksum - 2**32}
        for name in _ALGORITHMS:
            digest = hashlib.new(name, content, usedforsecurity=False).digest()
            hexadecimal = digest.hex()
            ends = (end for n in _AS_NUMBER for end in (hexadecimal[:n], hexadecimal[-n:]))
            yield hexadecimal, {int(end, 16) for end in ends}
            yield _NOT_OF_DIGESTS.sub("", base64.b64encode(digest).decode().lower()), set()

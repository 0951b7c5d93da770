"""Key of an unfinished erasure: a salted digest beside the vault, until it is complete.

It is a file, not a row: what is deleted from a DuckDB file stays in its bytes.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from pathlib import Path

from dbt_anonymize.vault.files import FILE_MODE

# A key has few values, so each guess must cost.
_COST = {"n": 2**14, "r": 8, "p": 1}


def digest_file(vault_file: Path, schema: str, name: str) -> Path:
    """Return the file of the digest of an open erasure; a schema's name may be no file name."""
    place = hashlib.sha256(schema.encode()).hexdigest()[:8]
    return vault_file.resolve().with_name(f".{name}.{place}.erasure")


def write_digest(file: Path, key: str) -> None:
    """Remember whose erasure is about to begin, for the owner of the vault only."""
    salt = secrets.token_hex(16)
    stage = file.with_name(f"{file.name}.new")
    stage.unlink(missing_ok=True)
    with os.fdopen(os.open(stage, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE), "w") as opened:
        json.dump({"salt": salt, "digest": _digest(salt, key)}, opened)
    stage.replace(file)


def is_of_another(file: Path, key: str) -> bool:
    """Tell whether the open erasure is known to be of another key; False if the file is lost."""
    try:
        stored = json.loads(file.read_text(encoding="utf-8"))
        salt, digest = str(stored["salt"]), str(stored["digest"])
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return not secrets.compare_digest(_digest(salt, key), digest)


def _digest(salt: str, key: str) -> str:
    return hashlib.scrypt(key.encode(), salt=salt.encode(), **_COST).hex()

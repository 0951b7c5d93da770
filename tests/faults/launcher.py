"""Start many short-lived processes that need dbt: import it once, fork for each.

Requests and answers are lines of JSON on stdin and stdout. This process never opens a database and
never starts a thread, so that a fork of it is as good as a fresh process. It does not import
pytest either: run it as a script.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import sys
import traceback
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.faults import tasks

# Root writes and reads whatever the mode of a file says, thanks to the first two capabilities of
# Linux and of their 64 the second word.
_CAPABILITY_VERSION = 0x20080522
_SYSTEM_CALL = 126 if os.uname().machine == "x86_64" else 91


def serve() -> None:
    """Answer requests until stdin ends."""
    for line in sys.stdin:
        request = json.loads(line)
        answer: dict[str, Any]
        if "wait" in request:
            _, status = os.waitpid(request["wait"], 0)
            answer = {"status": os.waitstatus_to_exitcode(status)}
        elif "look" in request:
            # Without taking its status away.
            ended = os.waitid(os.P_PID, request["look"], os.WEXITED | os.WNOHANG | os.WNOWAIT)
            answer = {"is_running": ended is None}
        else:
            answer = {"pid": _start(request)}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def _start(request: dict[str, Any]) -> int:
    """Fork a process that does one task and writes to a file."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        output = os.open(request["output"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(output, 1)
        os.dup2(output, 2)
        if request["file_bytes"] is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (request["file_bytes"],) * 2)
        if request["is_powerless"]:
            _drop_capabilities()
        status = getattr(tasks, request["task"])(**request["arguments"])
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _drop_capabilities() -> None:
    """Make the modes of files bind this process even if it is root's."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    nothing = (ctypes.c_uint32 * 6)()
    if ctypes.CDLL(None, use_errno=True).syscall(_SYSTEM_CALL, header, nothing) != 0:
        raise OSError(ctypes.get_errno(), "capset")


if __name__ == "__main__":
    serve()

"""``serve`` starts a service of this machine and stops it when the program ends."""

from __future__ import annotations

import atexit
import os
import shlex
import shutil
import subprocess
import tempfile
import threading
from typing import Any, List

from .errors import FieldprobeError
from .service import Service, connect


def serve(*data: Any, **settings: Any) -> Service:
    """Start a service of this machine and connect to it; it ends with the program.

    ``fieldprobe`` must be on PATH, or the environment variable FIELDPROBE must say how it is started.

    Args:
        data: folders and addresses of data; the included flows by default.
        settings: flags of ``fieldprobe serve``, such as ``cache_bytes=2**30``; ``state`` is a temporary folder by default.

    Raises:
        FieldprobeError: if there is no program, or it does not start; with its last line.
    """
    command = shlex.split(os.environ.get("FIELDPROBE", "fieldprobe"))
    if shutil.which(command[0]) is None:
        raise FieldprobeError(f"{command[0]} is not on PATH: npm install -g fieldprobe, or connect() to a service that runs")
    settings.setdefault("state", tempfile.mkdtemp(prefix="fieldprobe-"))
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in settings.items()]
    if data:
        flags.append(f"--data={os.pathsep.join(str(one) for one in data)}")
    process = subprocess.Popen(
        [*command, "serve", "--port=0", "--log-level=error", *flags],
        env={**os.environ, "FIELDPROBE_EVENTS": "off"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    atexit.register(_stop, process)
    assert process.stdout is not None and process.stderr is not None
    problems: List[str] = []
    threading.Thread(target=lambda: problems.extend(process.stderr), daemon=True).start()
    line = process.stdout.readline()
    if not line.startswith("fieldprobe listening on "):
        process.wait()
        raise FieldprobeError((problems or ["the service did not start"])[-1].strip())
    threading.Thread(target=process.stdout.read, daemon=True).start()
    service = connect(line.split()[-1])
    service.process = process
    return service


def _stop(process: "subprocess.Popen[str]") -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()

"""One program on a real GPU, with the time of each of its kernels: ``python -m kernelwright.bench.gpu.timed_run DEVICE WINNERS COMMAND``.

DEVICE is ``cuda:0``; WINNERS is ``on`` or ``off``: whether the winners run that the program carries. It runs in this folder; what
it prints is dropped. One JSON object on standard output: exit code, and what ``merge_times`` makes of its launches, with the time of each
launch (``each_us``), shape after shape.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from dataclasses import replace

from kernelwright.device.real_gpu.launch_times import merge_times
from kernelwright.device.serving.run_program import run_program
from kernelwright.device.serving.worker import serve
from kernelwright.device.settings import Settings


def main(words: list[str]) -> int:
    """Runs ``DEVICE WINNERS COMMAND...``, times go to standard error as JSON. Returns the program's exit code."""
    device, winners, *command = words
    os.environ.setdefault("CUDA_MODULE_LOADING", "EAGER")  # else the first launch of a kernel waits for its code
    found = replace(Settings.for_device(device), winners="" if winners == "on" else "off")

    def serve_connection(connection: socket.socket) -> bytes:
        session = serve(connection, lambda: found, finish=True, timed=True, versions=() if winners == "on" else None)
        return json.dumps(session.report() if session else []).encode()

    said = os.dup(1)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    ran = run_program(command, found, serve_connection)
    shapes = [row for result in ran.results if result for row in json.loads(result)]
    rows = merge_times(shapes)
    for row in rows:
        row["each_us"] = [
            us for shape in shapes if shape["mangled"] == row["mangled"] for us in shape.get("each_us", ())
        ]
    os.write(said, json.dumps({"exit code": ran.exit_code, "kernels": rows}).encode())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

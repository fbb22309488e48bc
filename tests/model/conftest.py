"""A cache of its own for every test run, so that nothing here reads or fills the user's."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kernelwright.passes import worker


@pytest.fixture(autouse=True, scope="session")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KERNELWRIGHT_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield
    worker.close_all()

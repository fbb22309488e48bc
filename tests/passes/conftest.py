"""A cache of its own for every test run, so that nothing here reads or fills the user's."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kernelwright.passes import worker
from tests.warm_cache import WarmCache


@pytest.fixture(autouse=True, scope="session")
def own_cache(tmp_path_factory: pytest.TempPathFactory, warm_cache: WarmCache) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch, warm_cache.at(tmp_path_factory.mktemp("cache")) as folder:
        patch.setenv("KERNELWRIGHT_CACHE", str(folder))
        yield
    worker.close_all()

"""A cache of its own, as for the tests of the model."""

from tests.model.conftest import own_cache

__all__ = ["own_cache"]

"""What is dropped, and when. The oracle of the long test is a list in order of use."""

from __future__ import annotations

import random

import pytest

from kernelwright.lru import LruCache


def test_the_least_recently_used_is_dropped() -> None:
    cache: LruCache[str, int] = LruCache(2)
    cache.put("a", 1)
    cache.put("b", 2)
    assert cache.get("a") == 1
    cache.put("c", 3)
    assert ("a" in cache, "b" in cache, "c" in cache) == (True, False, True)
    assert cache.get("b") is None and len(cache) == 2


def test_asking_whether_a_key_is_held_is_no_use() -> None:
    cache: LruCache[str, int] = LruCache(2)
    cache.put("a", 1)
    cache.put("b", 2)
    assert "a" in cache
    cache.put("c", 3)
    assert "a" not in cache


def test_a_value_put_again_replaces_the_earlier_and_is_used_last() -> None:
    cache: LruCache[str, int] = LruCache(2)
    cache.put("a", 1)
    cache.put("b", 2)
    cache.put("a", 10)
    cache.put("c", 3)
    assert (cache.get("a"), cache.get("b"), len(cache)) == (10, None, 2)


def test_a_value_is_made_once() -> None:
    made = []

    def make() -> str:
        made.append(1)
        return "value"

    cache: LruCache[int, str] = LruCache(1)
    assert cache.get_or_make(1, make) == cache.get_or_make(1, make) == "value"
    assert len(made) == 1
    cache.get_or_make(2, make)
    cache.get_or_make(1, make)
    assert len(made) == 3


def test_an_empty_value_is_a_value() -> None:
    cache: LruCache[int, str] = LruCache(2)
    cache.put(1, "")
    assert cache.get(1) == "" and cache.get_or_make(1, lambda: "made") == ""


def test_what_cannot_be_made_is_not_held() -> None:
    cache: LruCache[int, float] = LruCache(2)
    with pytest.raises(ZeroDivisionError):
        cache.get_or_make(1, lambda: 1 / 0)
    assert 1 not in cache and len(cache) == 0


def test_bytes_are_bounded_but_the_newest_is_held() -> None:
    cache: LruCache[int, bytes] = LruCache(most_bytes=10, size=len)
    cache.put(1, bytes(4))
    cache.put(2, bytes(6))
    assert len(cache) == 2 and cache.bytes == 10
    cache.put(3, bytes(1))
    assert 1 not in cache and cache.bytes == 7
    cache.put(3, bytes(4))
    assert 2 in cache and cache.bytes == 10
    cache.put(4, bytes(100))
    assert len(cache) == 1 and cache.bytes == 100
    cache.clear()
    assert len(cache) == cache.bytes == 0 and cache.get(4) is None


def test_sizes_need_a_bound() -> None:
    with pytest.raises(ValueError):
        LruCache(most_bytes=10)


def test_a_long_use() -> None:
    dice = random.Random(1)
    cache: LruCache[int, bytes] = LruCache(8, most_bytes=60, size=len)
    order: list[tuple[int, bytes]] = []
    for _ in range(5000):
        key = dice.randrange(20)
        held = [each for each in order if each[0] == key]
        if dice.random() < 0.5:
            assert cache.get(key) == (held[0][1] if held else None)
            order = [each for each in order if each[0] != key] + held
        else:
            value = bytes(dice.randrange(1, 20))
            cache.put(key, value)
            order = [each for each in order if each[0] != key] + [(key, value)]
            while len(order) > 1 and (len(order) > 8 or sum(len(v) for _, v in order) > 60):
                del order[0]
        assert len(cache) == len(order) and cache.bytes == sum(len(v) for _, v in order)
        assert all(k in cache for k, _ in order)

"""What the programs of Table 1 print, in NumPy, from what each computes: nothing of the versions is known here."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Answer = dict[str, NDArray[Any]]


def noise(i: NDArray[Any]) -> Floats:
    return (i.astype(np.uint64) * 2654435761 % 2**32 >> 8) / 16777216.0


def numbers(count: int) -> NDArray[np.int64]:
    return np.arange(count, dtype=np.int64)


def shown(array: NDArray[Any]) -> NDArray[Any]:
    """All of it, or 256 elements."""
    flat = array.reshape(-1)
    return flat if flat.size <= 256 else flat[numbers(256) * flat.size // 256]


def lud(n: int, block: int) -> Answer:
    matrix = noise(numbers(n * n)).reshape(n, n) + n * np.eye(n)
    lower, upper = np.eye(n), np.zeros((n, n))
    for i in range(n):  # Doolittle: rows of U and columns of L from the definition A = L U.
        upper[i, i:] = matrix[i, i:] - lower[i, :i] @ upper[:i, i:]
        lower[i + 1 :, i] = (matrix[i + 1 :, i] - lower[i + 1 :, :i] @ upper[:i, i]) / upper[i, i]
    return {"matrix": lower - np.eye(n) + upper}


def backprop(inputs: int, hidden: int) -> Answer:
    i, h = numbers(hidden * inputs), numbers(hidden)
    x, w, last = noise(numbers(inputs)), noise(i) * 4 / inputs, noise(i + 3) / inputs
    w, last = w.reshape(hidden, inputs), last.reshape(hidden, inputs)
    v, outer_last, bias, outer_bias = noise(h + 7) / hidden, noise(h + 9) / hidden, noise(h + 5), 0.1
    inner = np.append(w @ x, 0) + np.append(bias, 1e9)  # The last unit is always 1: its weight is the bias.
    out = 1 / (1 + np.exp(-inner))
    result = 1 / (1 + np.exp(-np.append(v, outer_bias) @ out))
    slope = (1 - result) * result * (1 - result)  # Of half the square of what the output misses.
    slopes = slope * v * out[:-1] * (1 - out[:-1])
    return {
        "weight": w + 0.3 * np.outer(slopes, x) + 0.3 * last,
        "bias": bias + 0.3 * slopes,
        "outer_weight": v + 0.3 * slope * out[:-1] + 0.3 * outer_last,
        "outer_bias": np.array([outer_bias + 0.3 * slope]),
        "outer_delta": np.array([slope]),
        "error": np.array([np.abs(slopes).sum()]),
    }


def lavamd(boxes: int, particles: int) -> Answer:
    """The force is what the potential's slope makes it, 2 by the charge: here from differences of distances in space, box by box."""
    values = noise(numbers(4 * boxes**3 * particles)).reshape(boxes**3, particles, 4)
    cells = np.array([[b % boxes, b // boxes % boxes, b // boxes**2] for b in range(boxes**3)])
    where = values[:, :, :3] + cells[:, None, :]
    potential, force = np.zeros((boxes**3, particles)), np.zeros((boxes**3, particles, 3))
    for b in range(boxes**3):
        near = np.abs(cells - cells[b]).max(axis=1) <= 1
        others, charges = where[near].reshape(-1, 3), values[near][:, :, 3].reshape(-1)
        apart = where[b][:, None, :] - others[None]
        each = charges * np.exp(-(apart**2).sum(axis=2) / 2)
        potential[b] = each.sum(axis=1)
        force[b] = 2 * np.einsum("pq,pqx->px", each, apart)
    return {"potential": potential, "force": force}


def nw(pairs: int, length: int) -> Answer:
    similar = (noise(numbers(pairs * length * length)) * 21).astype(int).reshape(pairs, length, length) - 10
    score = np.zeros((pairs, length + 1, length + 1), dtype=np.int64)
    score[:, 0, :] = -np.arange(length + 1)
    score[:, :, 0] = -np.arange(length + 1)
    for r in range(1, length + 1):
        for c in range(1, length + 1):
            gap = np.maximum(score[:, r - 1, c], score[:, r, c - 1]) - 1
            score[:, r, c] = np.maximum(score[:, r - 1, c - 1] + similar[:, r - 1, c - 1], gap)
    return {"score": score}


def nn(queries: int, points: int, nearest: int) -> Answer:
    p, q = numbers(points), numbers(queries)
    dx = noise(2 * p)[None] - noise(5 * q + 2)[:, None]
    dy = noise(3 * p + 1)[None] - noise(7 * q + 3)[:, None]
    apart = np.hypot(dx, dy)
    found = np.argsort(apart, axis=1, kind="stable")[:, :nearest]
    return {"found": found, "distance": np.take_along_axis(apart, found, axis=1)}


def srad(images: int, rows: int, columns: int, iterations: int) -> Answer:
    image = 0.5 + noise(numbers(images * rows * columns)).reshape(images, rows, columns)
    for _ in range(iterations):
        spread = (image.var(axis=(1, 2)) / image.mean(axis=(1, 2)) ** 2)[:, None, None]
        wide = np.pad(image, ((0, 0), (1, 1), (1, 1)), mode="edge")
        n, s, w, e = wide[:, :-2, 1:-1], wide[:, 2:, 1:-1], wide[:, 1:-1, :-2], wide[:, 1:-1, 2:]
        square = sum((other - image) ** 2 for other in (n, s, w, e)) / image**2
        laplacian = (n + s + w + e - 4 * image) / image
        q = (square / 2 - laplacian**2 / 16) / (1 + laplacian / 4) ** 2
        c = np.clip(1 / (1 + (q - spread) / (spread * (1 + spread))), 0, 1)
        edge = np.pad(c, ((0, 0), (0, 1), (0, 1)), mode="edge")
        flow = c * (n - image) + edge[:, 1:, :-1] * (s - image) + c * (w - image) + edge[:, :-1, 1:] * (e - image)
        image = image + flow / 8
    return {"image": image}


def pathfinder(grids: int, rows: int, columns: int) -> Answer:
    wall = (noise(numbers(grids * rows * columns)) * 10).astype(int).reshape(grids, rows, columns)
    cost = wall[:, 0]
    for r in range(1, rows):
        wide = np.pad(cost, ((0, 0), (1, 1)), constant_values=10**6)
        cost = wall[:, r] + np.minimum(np.minimum(wide[:, :-2], wide[:, 1:-1]), wide[:, 2:])
    return {"cheapest": cost}


def primitive_polynomials(count: int) -> list[int]:
    """Over two elements, by their bits: irreducible, and x is of the full order, by the factors of that order."""

    def rest(a: int, b: int) -> int:
        while a.bit_length() >= b.bit_length():
            a ^= b << (a.bit_length() - b.bit_length())
        return a

    def power_of_x(exponent: int, modulus: int) -> int:
        result, base = 1, rest(2, modulus)
        for bit in bin(exponent)[2:]:
            result = rest(product(result, result), modulus)
            result = rest(product(result, base), modulus) if bit == "1" else result
        return result

    def product(a: int, b: int) -> int:
        return 0 if b == 0 else product(a << 1, b >> 1) ^ (a if b & 1 else 0)

    found: list[int] = []
    candidate = 3
    while len(found) < count:
        degree = candidate.bit_length() - 1
        order = 2**degree - 1
        factors = [q for q in range(2, order + 1) if order % q == 0 and all(q % p for p in range(2, math.isqrt(q) + 1))]
        is_irreducible = all(rest(candidate, divisor) for divisor in range(2, 2 ** (degree // 2 + 1)))
        if is_irreducible and all(power_of_x(order // q, candidate) != 1 for q in factors):
            found.append(candidate)
        candidate += 2
    return found


def sobol(count: int, dimensions: int) -> NDArray[np.int64]:
    """Numbers 1 to ``count`` of each dimension, of 32 bits, each from the one before it (Antonov and Saleev)."""
    found = np.zeros((count, dimensions), dtype=np.int64)
    for d, polynomial in enumerate([1, *primitive_polynomials(dimensions - 1)]):
        degree = polynomial.bit_length() - 1
        begin = (
            [int(x * 65536) % 2**k * 2 + 1 for k, x in enumerate(noise(d * 32 + numbers(degree)))] if d else [1] * 32
        )
        m = list(begin)
        while len(m) < 32:
            terms = [2**j * m[-j] for j in range(1, degree + 1) if polynomial >> (degree - j) & 1]
            m.append(int(np.bitwise_xor.reduce([m[-degree], *terms])))
        x = 0
        for n in range(count):
            lowest_zero = (~n & (n + 1)).bit_length() - 1
            x ^= m[lowest_zero] << (31 - lowest_zero)
            found[n, d] = x
    return found


def option_pricing(paths: int, dates: int) -> Answer:
    uniform = ((sobol(paths, dates) >> 9) + 0.5) / 2**23
    normal = np.vectorize(statistics.NormalDist().inv_cdf)(uniform)
    path = np.zeros((paths, dates + 1))
    path[:, dates] = math.sqrt(dates) * normal[:, 0]
    gaps, number = [(0, dates)], 1
    while (
        gaps
    ):  # The first one that waits is halved: what it is given is between its ends, and spreads by their distances.
        left, right = gaps.pop(0)
        if right - left < 2:
            continue
        middle = (left + right) // 2
        mean = np.array([np.interp(middle, (left, right), row) for row in path[:, [left, right]]])
        spread = math.sqrt((middle - left) * (right - middle) / (right - left))
        path[:, middle] = mean + spread * normal[:, number]
        gaps += [(left, middle), (middle, right)]
        number += 1
    years = np.arange(1, dates + 1) / dates
    price = np.exp((0.03 - 0.2**2 / 2) * years + 0.2 * path[:, 1:] / math.sqrt(dates))
    payoff = 100 * np.maximum(price.mean(axis=1) - 0.9, 0)
    return {"payoff": payoff, "price": np.array([math.exp(-0.03) * payoff.mean()])}


def locvolcalib(options: int, nx: int, ny: int, steps: int) -> Answer:
    count = options * nx * ny
    value = (noise(numbers(count)) + numbers(count) // (nx * ny) * 0.1).reshape(options, ny, nx)

    def system(n: int, t: int) -> Floats:
        w = 0.2 + 0.1 * np.arange(n) / n + 0.05 * t
        return np.diag(1 + 2 * w) - np.diag(w[1:], -1) - np.diag(w[:-1], 1)

    for t in range(steps):
        value = value + 0.01 * np.arange(nx) * t
        value = np.linalg.solve(system(nx, t)[None], value.transpose(0, 2, 1)).transpose(0, 2, 1)
        value = np.linalg.solve(system(ny, t)[None], value)
    return {"value": value}


def heston(quotes: int, dates: int, points: int, population: int, generations: int) -> Answer:
    q, c = numbers(quotes), numbers(population * 5)
    strike, volatility = 0.8 + 0.4 * noise(q), 0.2 + 0.1 * noise(2 * q + 1)
    years = (0.25 + 2 * numbers(dates) / dates)[q * dates // quotes]
    drawn = noise(c).reshape(population, 5)
    low, high = np.array([0.01, 0.01, 0.5, 0.1, -0.9]), np.array([0.4, 0.4, 4.0, 0.9, 0.0])
    candidate = np.array([0.02, 0.02, 0.5, 0.2, 0]) + drawn * np.array([0.3, 0.3, 3, 0.6, -0.9])
    least = np.full(population, 1e30)
    x, w = np.polynomial.laguerre.laggauss(points)

    def black_scholes(deviation: Floats) -> tuple[Floats, Floats]:
        """The price of a call on an asset worth 1, and what its density has at the upper bound."""
        d = deviation / 2 - np.log(strike) / deviation
        below = [0.5 * (1 + np.array([math.erf(y / math.sqrt(2)) for y in at])) for at in (d, d - deviation)]
        return below[0] - strike * below[1], np.exp(-(d**2) / 2) / np.sqrt(2 * np.pi)

    market, density = black_scholes(volatility * np.sqrt(years))
    weight = 1 / np.maximum(0.1, np.sqrt(years) * density)

    def price(model: Floats) -> Floats:
        """By the characteristic functions at x - i; the one with the mean variance stands for what the rule need not integrate."""
        v, level, speed, own, correlation = model
        z, k, tau = x[None, :] - 1j, np.log(strike)[:, None], years[:, None]
        mean = level + (v - level) * (1 - np.exp(-speed * tau)) / (speed * tau)
        beta = speed - 1j * correlation * own * z
        d = np.sqrt(beta**2 + own**2 * (z**2 + 1j * z))
        g = (beta - d) / (beta + d)
        level_part = (beta - d) * tau - 2 * np.log((1 - g * np.exp(-d * tau)) / (1 - g))
        variance_part = (beta - d) * (1 - np.exp(-d * tau)) / (1 - g * np.exp(-d * tau))
        phi = np.exp(speed * level / own**2 * level_part + v / own**2 * variance_part)
        apart = np.exp(-mean * tau / 2 * (z**2 + 1j * z)) - phi
        integral = (w * np.exp(x) * (apart * np.exp(-1j * x * k) / (x * z)).real).sum(axis=1)
        plain = black_scholes(np.sqrt(mean * tau)[:, 0])[0]
        return np.clip(integral / np.pi + plain, np.maximum(0, 1 - strike), 1)

    for t in range(generations):
        one, other = (np.arange(population) + t + 1) % population, (np.arange(population) + 2 * t + 2) % population
        moved = candidate + (0.5 * (candidate[one] - candidate[other]) if t else 0)
        trial = np.clip(moved, low, high)
        error = np.array([((weight * (price(model) - market)) ** 2).sum() for model in trial])
        better = error < least
        least, candidate = np.where(better, error, least), np.where(better[:, None], trial, candidate)
    return {"candidate": candidate, "least": least}


def bfast(pixels: int, dates: int, year: int) -> Answer:
    d, i, history = np.arange(dates), numbers(pixels * dates), dates // 2
    waves = [f(2 * np.pi * k * d / year) for k in (1, 2, 3) for f in (np.sin, np.cos)]
    basis = np.stack([np.ones(dates), (d + 1) / dates, *waves])
    season = 0.5 * waves[0] + 0.2 * waves[3] + 0.1 * waves[4]
    late = np.outer(np.arange(pixels) % 2, d > 3 * dates // 4)
    series = 1 + 0.3 * noise(i).reshape(pixels, dates) + season + late
    largest, first = np.zeros(pixels), np.full(pixels, -1)
    for p in range(pixels):
        there = (p * dates + d) % 11 != 3
        early, n = there & (d < history), int((there & (d < history)).sum())
        fit, (squares,), *_ = np.linalg.lstsq(basis[:, early].T, series[p, early], rcond=None)
        missed = (series[p] - fit @ basis)[there]
        sums = np.array([missed[k + 1 - n // 4 : k + 1].sum() for k in range(n, len(missed))])
        sums /= np.sqrt(squares / (n - 8)) * np.sqrt(n)
        bound = 2.39 * np.sqrt(np.maximum(1, np.log(np.arange(n + 1, len(missed) + 1) / n)))
        assert np.abs(np.abs(sums) - bound).min() > 1e-3, "a break that rounding decides"
        beyond = np.flatnonzero(np.abs(sums) > bound)
        largest[p] = np.abs(sums).max()
        first[p] = d[there][n + beyond[0]] if len(beyond) else -1
    return {"largest_sum": largest, "first_break": first}


ORACLES: dict[str, tuple[Callable[..., Answer], tuple[str, ...]]] = {
    "lud": (lud, ("12 4", "9 9", "8 1")),
    "backprop": (backprop, ("37 5",)),
    "lavamd": (lavamd, ("3 3",)),
    "nw": (nw, ("3 7",)),
    "nn": (nn, ("5 33 3",)),
    "srad": (srad, ("3 5 7 2",)),
    "pathfinder": (pathfinder, ("3 5 19",)),
    "option_pricing": (option_pricing, ("17 9", "3 16", "70 5", "2 1")),
    "locvolcalib": (locvolcalib, ("3 9 6 2",)),
    "heston": (heston, ("11 3 12 6 3",)),
    "bfast": (bfast, ("5 44 11", "4 97 23")),
}
"""Per program its oracle, and data on which it is asked."""

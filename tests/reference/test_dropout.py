from __future__ import annotations

import numpy as np
import pytest

from neuronet.reference.dropout import Dropout, philox, random_bits

# counter, key, result of philox4x32 with 10 rounds: known-answer tests of the authors' Random123
KNOWN = [
    ("00000000 00000000 00000000 00000000", "00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
]


def _words(text: str) -> list[int]:
    return [int(word, 16) for word in text.split()]


@pytest.mark.parametrize(("counter", "key", "expected"), KNOWN)
def test_philox_gives_the_published_numbers(counter: str, key: str, expected: str) -> None:
    first, second = _words(key)
    got = philox(np.array([_words(counter)] * 2, np.uint32), (first, second))
    assert got.dtype == np.uint32
    assert got.tolist() == [_words(expected)] * 2


def test_the_words_of_a_counter_go_to_every_256th_element() -> None:
    words = _words(KNOWN[0][2])
    arrays = {"key": np.zeros(1, np.int32), "step": np.zeros(4, np.int32), "inputs": np.ones(1100)}
    for i, word in zip((0, 256, 512, 768), words, strict=True):
        for threshold, expected in ((word, 2), (word + 1, 0)):
            out = np.empty(1100)
            Dropout(**arrays, out=out, threshold=threshold, scale=2.0)
            assert out[i] == expected


def test_numbers_do_not_depend_on_the_size_and_never_repeat() -> None:
    bits = random_bits(5000, -7, 3)
    for n in (1, 300, 1024, 2000):
        np.testing.assert_array_equal(random_bits(n, -7, 3), bits[:n])
    assert len(np.unique(bits)) > 4990


def test_backward_is_the_derivative_of_forward() -> None:
    rng, eps = np.random.default_rng(0), 1e-3
    x, dy, direction = (rng.standard_normal(11) for _ in range(3))

    def masked(values: np.ndarray) -> np.ndarray:
        out = np.empty(11)
        key, step = np.array([5], np.int32), np.array([6, 0, 0, 0], np.int32)
        Dropout(inputs=values, key=key, step=step, out=out, threshold=2**31, scale=2.0)
        return out

    numeric = ((masked(x + eps * direction) - masked(x - eps * direction)) * dy).sum() / (2 * eps)
    np.testing.assert_allclose((masked(dy) * direction).sum(), numeric, rtol=1e-7)

"""Holm's correction: a published example, its definition, and the error rate that it promises."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dyno.stats import holm


def test_textbook_example() -> None:
    """Four tests with p = 0.01, 0.04, 0.03, 0.005: at α = 0.05 only the first and the last are rejected."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_r_p_adjust() -> None:
    """R: p.adjust(c(0.0001, 0.01, 0.02, 0.5, 0.9), "holm")."""
    assert holm([0.0001, 0.01, 0.02, 0.5, 0.9]) == pytest.approx([0.0005, 0.04, 0.06, 1.0, 1.0])


def test_nothing_and_one() -> None:
    assert holm([]) == []
    assert holm([0.03]) == [0.03]


def test_refuses_no_probability() -> None:
    with pytest.raises(ValueError, match=r"outside 0…1"):
        holm([0.5, 1.5])


@given(st.lists(st.floats(min_value=0, max_value=1), min_size=1, max_size=30))
def test_between_raw_and_bonferroni_and_in_order(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    for raw, new in zip(p_values, adjusted, strict=True):
        assert raw <= new <= min(1.0, raw * len(p_values)) or new == pytest.approx(raw)
    order = np.argsort(p_values, kind="stable")
    assert np.all(np.diff(np.asarray(adjusted)[order]) >= 0)


def test_family_wise_error() -> None:
    """Ten true null hypotheses a table, 3,000 tables: some false rejection in 5 % ± 1.4 % at most."""
    rng = np.random.default_rng(5)
    samples = rng.normal(size=(3000, 10, 6))
    p_values = stats.ttest_1samp(samples, 0.0, axis=2).pvalue
    wrong = np.mean([min(holm(row.tolist())) <= 0.05 for row in p_values])
    uncorrected = np.mean(p_values.min(axis=1) <= 0.05)
    assert wrong <= 0.064
    assert uncorrected > 0.3  # what the correction prevents

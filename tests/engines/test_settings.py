import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from dyno.engines import Settings, format_size, parse_size


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [
        (268435456, 268435456),
        ("268435456", 268435456),
        ("256MiB", 256 * 2**20),
        ("256M", 256 * 2**20),
        ("256 mb", 256 * 2**20),
        ("2G", 2 * 2**30),
        ("1.5GiB", 3 * 2**29),
        ("16k", 16384),
        ("1TiB", 2**40),
        ("0", 0),
    ],
)
def test_sizes(text, size_bytes):
    assert parse_size(text) == size_bytes


@pytest.mark.parametrize("wrong", ["", "lots", "-1", "12X", "0.3B", -5, 1.5, True, None, "1 2M", "MiB"])
def test_what_is_no_size(wrong):
    with pytest.raises(ValueError, match=r"size|bytes"):
        parse_size(wrong)


@given(st.integers(min_value=0, max_value=2**50))
def test_a_formatted_size_parses_back_exactly(size_bytes):
    assert parse_size(format_size(size_bytes)) == size_bytes


def test_unknown_knob_is_an_error_that_names_it():
    with pytest.raises(ValidationError, match="buffer_pol"):
        Settings.model_validate({"buffer_pol": "2G"})


@pytest.mark.parametrize(
    "wrong", [{"durability": "maybe"}, {"buffer_pool": "1M"}, {"io_capacity": "fast"}, {"redo": "4MiB"}]
)
def test_impossible_values_are_errors(wrong):
    with pytest.raises(ValidationError):
        Settings.model_validate(wrong)


def test_settings_survive_json():
    settings = Settings(buffer_pool="2G", extra={"mysql": {"innodb_log_writer_threads": False}})
    assert Settings.model_validate(settings.model_dump(mode="json")) == settings

"""The kept noise floor belongs to one host; anything else is not known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dyno.hosts.ceiling import identity
from dyno.hosts.facts import host_facts
from dyno.hosts.noise import NoiseFloor, known_noise, noise_path
from dyno.record.layout import write_json

DAMAGED = ["", "{", "[]", "{}", '{"format": "dyno-noise/2"}', '{"format": "dyno-noise/1"}']


@pytest.fixture
def noise(tmp_path):
    return NoiseFloor(
        measured="2026-11-20T19:30:00Z",
        run="r",
        rig_version="0.1.0",
        host=identity(host_facts(tmp_path)),
        engine="MariaDB 10.11",
        workload="oltp_read_write",
        sessions=4,
        trials=6,
        measure_s=5.0,
        ratio=1.002,
        ratio_low=0.99,
        ratio_high=1.014,
        floor=0.014,
        spread=0.011,
        false_alarm=False,
    )


def test_what_was_kept_is_known_again(tmp_path, noise):
    host = host_facts(tmp_path)
    assert known_noise(tmp_path, host) is None
    write_json(noise_path(tmp_path, host), noise.as_dict())
    assert known_noise(tmp_path, host) == noise


def test_another_kernel_is_another_host(tmp_path, noise):
    host = host_facts(tmp_path)
    write_json(noise_path(tmp_path, host), noise.as_dict())
    assert known_noise(tmp_path, replace(host, kernel="0.0.1")) is None


@pytest.mark.parametrize("text", DAMAGED)
def test_what_is_damaged_is_not_known(tmp_path, text):
    host = host_facts(tmp_path)
    path = noise_path(tmp_path, host)
    path.parent.mkdir(parents=True)
    path.write_text(text)
    assert known_noise(tmp_path, host) is None

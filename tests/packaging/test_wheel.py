"""The wheel is how users install Dyno: it must bring both commands into an empty environment."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import dyno

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment of its own that holds nothing but the wheel and what it depends on."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)], cwd=ROOT, check=True
    )
    (wheel,) = folder.glob("*.whl")
    environment = folder / "env"
    uv = str(Path(sys.executable).with_name("uv"))
    subprocess.run([uv, "venv", "-q", "--python", sys.executable, str(environment)], check=True)
    install = [uv, "pip", "install", "-q", "--python", str(environment / "bin/python")]
    locked = ["--require-hashes", "-r", str(ROOT / "requirements/runtime.lock")]
    subprocess.run([*install, *locked], check=True)
    subprocess.run([*install, "--no-deps", str(wheel)], check=True)
    return environment


@pytest.mark.parametrize("command", ["dyno", "dyno-rig"])
def test_both_commands_run_from_the_wheel(installed: Path, command: str) -> None:
    """Nothing of the checkout or of this environment may be on the path."""
    clean = {"HOME": os.environ.get("HOME", "/"), "PATH": f"{installed}/bin:/usr/bin:/bin"}
    done = subprocess.run(
        [str(installed / "bin" / command), "--version"],
        env=clean,
        cwd=installed,
        capture_output=True,
        text=True,
        check=True,
    )
    assert dyno.__version__ in done.stdout


def test_the_installed_lab_finds_its_rig_and_its_page(installed: Path) -> None:
    """`dyno doctor` style look-ups must not depend on a checkout."""
    code = (
        "from importlib.resources import files\n"
        "from dyno.experiment.rig import find_rig\n"
        "assert (files('dyno.report') / 'viewer.html').is_file()\n"
        "print(find_rig())"
    )
    done = subprocess.run(
        [str(installed / "bin/python"), "-I", "-c", code],
        env={"PATH": "/usr/bin:/bin"},
        cwd=installed,
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(done.stdout.strip()) == installed / "bin/dyno-rig"

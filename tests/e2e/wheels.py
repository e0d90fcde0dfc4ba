"""
Published packages: wheels that pip, as this machine has it configured, downloads when a test needs them; unpacked beside the
root's own.

They are kept in PLACE/wheels for a day, so that "the newest" stays that.
"""

import pathlib
import shutil
import subprocess
import sys
import time
import zipfile

import harness

FLAGS = ("--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:", "--implementation=cp")
# manylinux: the wheels' own names for a glibc that is not newer than the root's.
PLATFORMS = ("manylinux_2_17_x86_64", "manylinux2014_x86_64", "manylinux_2_24_x86_64", "manylinux_2_28_x86_64")
TIMEOUT = 120  # seconds; a machine without a package index says no at once, or not at all
KEPT = 24 * 3600


class Unreachable(Exception):
    """There is no package index, or it has no such wheel."""


def unpacked(build: str, *requirements: str) -> pathlib.Path:
    """The folder of these packages for a build; to be put on its sys.path."""
    version = build.removeprefix("python").rstrip("d")
    name = "-".join([f"python{version}", *sorted(requirements)]).translate({ord(c): "_" for c in "=<>"})
    folder = harness.PLACE / "wheels" / name
    with harness.lock("wheels"):
        stamp = folder / "stamp"
        if not stamp.exists() or time.time() - stamp.stat().st_mtime > KEPT:
            shutil.rmtree(folder, ignore_errors=True)
            download(version, requirements, folder)
            stamp.write_text("")
    return folder


def download(version: str, requirements: tuple[str, ...], folder: pathlib.Path) -> None:
    wheels = folder / "wheels"
    tags = [f"--python-version={version}", f"--abi=cp{version.replace('.', '')}", "--abi=none"]
    tags += [f"--platform={platform}" for platform in PLATFORMS]
    command = [sys.executable, "-m", "pip", "download", *FLAGS, *tags, f"--dest={wheels}", *requirements]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        raise Unreachable(f"pip did not answer in {TIMEOUT} s") from None
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["pip failed"])[-1]
        raise Unreachable(last)
    for wheel in wheels.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
        wheel.unlink()


def versions(folder: pathlib.Path) -> dict[str, str]:
    """{name: version} of what lies there."""
    names = (path.name.removesuffix(".dist-info").rpartition("-") for path in folder.glob("*.dist-info"))
    return {name.lower(): version for name, _, version in names}

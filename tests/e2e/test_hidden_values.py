"""No value leaks a secret, however little of it is shown; --show-secrets shows all."""

import re

import harness
import pytest

SHOWS = "--all --no-group --locals --context"

# "5ec2e7" begins the key in hexadecimal digits, where no letter S is.
LEAKS = re.compile("SECRET|5ec2e7|hunter2", re.IGNORECASE)


def leaks(text):
    """Where a secret is shown. Two names hold the word too."""
    text = text.replace("secret_key", "").replace("secrets", "").replace("show-secrets", "")
    return [text[max(found.start() - 100, 0) : found.end() + 30] for found in LEAKS.finditer(text)]


def questions(made):
    failed = " ".join(task["id"] for task in made.oracle["failed"])
    lengths = ("", "--locals-length 12", "--locals-length 100000 --locals-depth 60", "--locals-depth 1")
    bases = [f"py-async-bt {SHOWS} {length}" for length in lengths] + [f"py-async-bt {failed} --locals"]
    return [*bases, *(f"{base} --json" for base in bases)]


@pytest.mark.parametrize("gdb, build", harness.PAIRS)
def test_no_value_leaks_a_secret(gdb, build):
    made = harness.make_core(build, "hidden_values")
    for answer in harness.ask_core(gdb, build, "hidden_values", *questions(made)):
        assert answer.error is None, answer
        assert not leaks(answer.text), "\n".join([*leaks(answer.text), answer.repeat])
        assert "<redacted>" in answer.text, answer


@pytest.mark.parametrize("gdb, build", harness.PAIRS)
def test_what_is_no_secret_is_shown(gdb, build):
    (answer,) = harness.ask_core(gdb, build, "hidden_values", f"py-async-bt {SHOWS} --locals-depth 60 --json")
    frames = [frame for task in answer.json()["tasks"] for frame in task["locals"]]
    found = {name: value for frame in frames for name, value in frame.items()}
    for name in ("plain", "password_file", "nested", "header_bytes", "pairs", "flat", "argv", "config", "client", "slots", "path"):
        assert "HARMLESS" in found[name]["value"], (name, found[name])
    plain = {"count": "12", "nothing": "None", "flag": "True", "uuid": "'123e4567-e89b-12d3-a456-426614174000'"}
    for name, value in plain.items():
        assert found[name]["value"] == value and not found[name]["hidden"], (name, found[name])
    for name in ("password", "token", "passphrase", "auth"):
        assert found[name]["value"] == "<redacted>" and found[name]["hidden"], (name, found[name])


@pytest.mark.parametrize("gdb, build", harness.PAIRS)
def test_show_secrets_shows_every_one(gdb, build):
    made = harness.make_core(build, "hidden_values")
    base = f"{SHOWS} --locals-length 100000 --locals-depth 60 --show-secrets"
    failed = " ".join(task["id"] for task in made.oracle["failed"])
    answers = harness.ask_core(gdb, build, "hidden_values", f"py-async-bt {base}", f"py-async-bt {failed} --show-secrets --json")
    for answer in answers:
        assert "<redacted>" not in answer.text, answer
        assert "hunter2-SECRET-hunter2" in answer.text, answer

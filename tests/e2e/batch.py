"""
Runs inside GDB, with pyasync loaded: open many cores or processes one after the other, and write what each command
prints into files.

The environment variable PYASYNC_JOBS names a JSON file: a list of {"target": GDB command, "folder": PATH, "commands":
{file name: command}}. A job's errors.json is written last: it tells that the job is done, and what the commands that
failed said.
"""

import json
import os
import pathlib

import gdb


def run(job):
    errors, folder = {}, pathlib.Path(job["folder"])
    try:
        gdb.execute(job["target"], to_string=True)
        for name, command in job["commands"].items():
            path = folder / name
            try:
                text = gdb.execute(command.replace("FILE", str(path)), to_string=True)
            except gdb.error as error:
                errors[name] = str(error)
                continue
            if name.endswith(".txt"):
                write(path, text)
            elif text:
                errors[name] = f"printed beside --output: {text}"
        if job["target"].startswith(("attach", "target")):
            gdb.execute("detach", to_string=True)
    except gdb.error as error:
        errors = dict.fromkeys(job["commands"], f"{job['target']}: {error}")
    write(folder / "errors.json", json.dumps(errors))


def write(path, text):
    # Text with a lone surrogate cannot be encoded: it must not be there, and the tests will see the replacement.
    path.write_text(text, encoding="utf-8", errors="backslashreplace")


for setting in ("confirm off", "pagination off", "width 0", "print thread-events off"):
    gdb.execute(f"set {setting}")
for job in json.loads(pathlib.Path(os.environ["PYASYNC_JOBS"]).read_text()):
    run(job)

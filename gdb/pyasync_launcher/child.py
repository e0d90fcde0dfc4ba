"""
What GDB starts for --run: becomes the command, as the shell would have started it. Its own file descriptors are GDB's; the
real ones, and all else that GDB has changed, are as the file job.json in the working directory says.
"""

import json
import os
import signal
import sys

with open("job.json", encoding="utf-8") as file:
    job = json.load(file)
for number, descriptor in enumerate(job["streams"]):
    os.dup2(descriptor, number)
for descriptor in {*job["streams"], *job["close"]} - {0, 1, 2}:
    os.close(descriptor)
os.setpgid(0, job["process_group"])
# Python ignores these; a program expects them as the shell left them.
for name in job["default_signals"]:
    signal.signal(getattr(signal, name), signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_SETMASK, job["blocked_signals"])
os.chdir(job["working_directory"])
command, environment = job["command"], job["environment"]
try:
    os.execvpe(command[0], command, environment)
except OSError as error:
    sys.stderr.write(f"pyasync: cannot run {command[0]!r}: {error.strerror}\n")
    sys.stderr.flush()
    os._exit(126 if isinstance(error, PermissionError) else 127)

"""Python that never imports asyncio; it dies, or waits for the end of its input."""

import os
import sys

if sys.argv[1] == "core":
    os.abort()
print("ready", flush=True)
sys.stdin.read()

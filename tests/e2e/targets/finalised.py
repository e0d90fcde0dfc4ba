"""Uses asyncio, then dies in a function that the C library calls at exit, when Python is finalised."""

import asyncio
import ctypes

libc = ctypes.CDLL(None)
libc.on_exit(libc.abort, None)
asyncio.run(asyncio.sleep(0))

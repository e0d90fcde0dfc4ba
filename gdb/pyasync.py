"""pyasync for GDB: `source` this file. It works from a checkout after `make`, from a copy of its folder, and installed."""

import importlib
import os
import sys


def _load_pyasync() -> None:
    """Load the package pyasync_gdb beside this file in place of one that was loaded before."""
    old = sys.modules.get("pyasync_gdb")
    if old is not None:
        old.unload()
        for name in [name for name in sys.modules if name.split(".")[0] == "pyasync_gdb"]:
            del sys.modules[name]
    importlib.invalidate_caches()
    # Where this file is, its code knows: __file__ is another file's if a Python script had this one sourced.
    file = sys._getframe().f_code.co_filename
    folder = os.path.dirname(os.path.realpath(os.path.expanduser(file)))
    # This folder only, and only for the import: a folder that has a `gdb` in it would shadow GDB's own module.
    sys.path.insert(0, folder)
    try:
        importlib.import_module("pyasync_gdb").load()
    finally:
        sys.path.remove(folder)


_load_pyasync()
del _load_pyasync

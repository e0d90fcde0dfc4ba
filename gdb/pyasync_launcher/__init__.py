"""
The launcher: one GDB for each core, process or program, and what they told. Standard library only, for Python 3.9 and newer.

    options ─► targets ─► core_file, unpack, process ─► debugger ─► triage ─► aftermath ─► supervise ─► main

inside.py runs in GDB, child.py in what --run starts; both stand alone.
"""

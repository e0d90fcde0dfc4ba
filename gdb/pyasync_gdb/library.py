"""The C interface src/pyasync.h, mirrored by hand for ctypes. Nothing here knows GDB.

A change of a structure or of the meaning of a value in src/pyasync.h raises PA_ABI_VERSION there; then this file changes too.
"""

import ctypes
import os

ABI_VERSION = 5

STRUCT_OBJECT, STRUCT_TASK, STRUCT_FUTURE = range(3)  # enum pa_struct_id

# enum pa_status
OK = 0
UNREADABLE = 1
ABORTED = 2
NO_MEMORY = 3
FAILED = 4

# What functions that answer a count or an offset use instead of a status.
UNKNOWN_COUNT = -1
ABORTED_COUNT = -2

# struct pa_range.flags
RANGE_IN_CORE = 1
RANGE_WRITABLE = 2
RANGE_FILE_BACKED = 4

# struct pa_target.flags
TARGET_CORE = 1
TARGET_LIVE = 2
TARGET_OWN_CLOCK = 4

# struct pa_native_frame.flags
NATIVE_DEBUG = 1
NATIVE_GUESS = 2

# enum pa_object_state
OBJECT_SAME = 0
OBJECT_MISSING = 1
OBJECT_DIFFERS = 2

# enum pa_style; names of GDB's own styles, PLAIN has none
STYLES = ("", "function", "filename", "variable", "address", "title", "metadata", "highlight")

# enum pa_command
COMMAND_BACKTRACE = 0
COMMAND_AWAITED_BY = 1
COMMAND_TASKS = 2
COMMAND_INFO = 3
COMMAND_GREENLETS = 4
COMMAND_REPORT = 5
COMMAND_DESCRIBE = 6

# enum pa_format
FORMAT_TEXT = 0
FORMAT_JSON = 1
FORMAT_DOT = 2

# enum pa_operand_kind
OPERAND_NAME = 0
OPERAND_GLOB = 1
OPERAND_ADDRESS = 2

# struct pa_request.flags
REQUEST_ALL = 1
REQUEST_COMPAT = 2
REQUEST_NO_HEAD = 4
REQUEST_SOURCE = 8
REQUEST_SHOW_SECRETS = 16
REQUEST_STYLED = 32
REQUEST_GROUP = 64
REQUEST_NO_GROUP = 128
REQUEST_EXHAUSTIVE = 256
REQUEST_MEMORY_STATS = 512
REQUEST_LOCALS = 1024
REQUEST_INSTRUMENTATION = 16384
REQUEST_CONTEXT = 2048
REQUEST_STATS = 4096
REQUEST_NATIVE = 8192

# struct pa_request.thread
THREAD_DEFAULT = 2**32 - 1
THREAD_ALL = 2**32 - 2


class Range(ctypes.Structure):
    """struct pa_range"""

    _fields_ = [
        ("start", ctypes.c_uint64),
        ("end", ctypes.c_uint64),
        ("file_offset", ctypes.c_uint64),
        ("flags", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
    ]


class ThreadInfo(ctypes.Structure):
    """struct pa_thread_info"""

    _fields_ = [
        ("number", ctypes.c_uint32),
        ("selected", ctypes.c_uint32),
        ("lwp", ctypes.c_int64),
        ("pthread_id", ctypes.c_uint64),
        ("name", ctypes.c_char * 32),
    ]


class NativeFrame(ctypes.Structure):
    """struct pa_native_frame"""

    _fields_ = [
        ("pc", ctypes.c_uint64),
        ("sp", ctypes.c_uint64),
        ("function", ctypes.c_char_p),
        ("file", ctypes.c_char_p),
        ("line", ctypes.c_int32),
        ("flags", ctypes.c_uint32),
    ]


class Stop(ctypes.Structure):
    """struct pa_stop"""

    _fields_ = [
        ("has_info", ctypes.c_uint32),
        ("code", ctypes.c_int32),
        ("address", ctypes.c_uint64),
        ("pid", ctypes.c_int64),
        ("uid", ctypes.c_int64),
        ("core_size", ctypes.c_uint64),
        ("core_whole", ctypes.c_uint64),
    ]


class ObjectFile(ctypes.Structure):
    """struct pa_object_file"""

    _fields_ = [
        ("path", ctypes.c_char_p),
        ("build_id", ctypes.c_char_p),
        ("file_build_id", ctypes.c_char_p),
        ("state", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
    ]


# Arrays and buffers that a callback fills come as plain addresses: NULL is allowed with a capacity of 0.
ReadFunction = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_void_p)
SectionsFunction = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_char_p, ctypes.POINTER(ctypes.c_uint64), ctypes.c_uint64)
SymbolFunction = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_char_p, ctypes.POINTER(ctypes.c_uint64))
MemberOffsetFunction = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_char_p, ctypes.c_char_p)
RangesFunction = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.POINTER(Range), ctypes.c_uint64)
ThreadsFunction = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.POINTER(ThreadInfo), ctypes.c_uint64)
SourceLineFunction = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_char_p, ctypes.c_int32, ctypes.c_void_p, ctypes.c_uint64)
WriteFunction = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_uint64)
PollFunction = ctypes.CFUNCTYPE(ctypes.c_int32)
SymbolAtFunction = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_uint64, ctypes.c_char_p)
NativeFramesFunction = ctypes.CFUNCTYPE(
    ctypes.c_int64, ctypes.c_uint32, ctypes.POINTER(NativeFrame), ctypes.c_uint64, ctypes.POINTER(ctypes.c_char_p)
)
StopFunction = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_uint32, ctypes.POINTER(Stop))
ObjectFilesFunction = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.POINTER(ObjectFile), ctypes.c_uint64)
ProcessStateFunction = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int64)
ArgumentsFunction = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_uint64, ctypes.POINTER(ctypes.c_uint32))
FileAtFunction = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_uint64)


class Target(ctypes.Structure):
    """struct pa_target"""

    _fields_ = [
        ("abi_version", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
        ("core_path", ctypes.c_char_p),
        ("core_name", ctypes.c_char_p),
        ("executable", ctypes.c_char_p),
        ("signal", ctypes.c_char_p),
        ("debugger", ctypes.c_char_p),
        ("pid", ctypes.c_int64),
        ("read", ReadFunction),
        ("sections", SectionsFunction),
        ("symbol", SymbolFunction),
        ("member_offset", MemberOffsetFunction),
        ("ranges", RangesFunction),
        ("threads", ThreadsFunction),
        ("source_line", SourceLineFunction),
        ("write", WriteFunction),
        ("poll", PollFunction),
        ("symbol_at", SymbolAtFunction),
        ("process", ctypes.c_int64),
        ("native_frames", NativeFramesFunction),
        ("file_at", FileAtFunction),
        ("stop", StopFunction),
        ("object_files", ObjectFilesFunction),
        ("process_state", ProcessStateFunction),
        ("arguments", ArgumentsFunction),
    ]


class Operand(ctypes.Structure):
    """struct pa_operand"""

    _fields_ = [
        ("kind", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
        ("address", ctypes.c_uint64),
        ("text", ctypes.c_char_p),
    ]


class Request(ctypes.Structure):
    """struct pa_request"""

    _fields_ = [
        ("command", ctypes.c_uint32),
        ("format", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
        ("thread", ctypes.c_uint32),
        ("limit", ctypes.c_uint32),
        ("frames", ctypes.c_uint32),
        ("depth", ctypes.c_uint32),
        ("operand_count", ctypes.c_uint32),
        ("operands", ctypes.POINTER(Operand)),
        ("state", ctypes.c_char_p),
        ("in_", ctypes.c_char_p),
        ("value_depth", ctypes.c_uint32),
        ("value_length", ctypes.c_uint32),
    ]


class LibraryError(Exception):
    """libpyasync.so cannot be used; the message is one line for the user."""


_FOLDER = os.path.dirname(os.path.abspath(__file__))
_PATH = os.path.join(_FOLDER, "libpyasync.so")


def _what_to_do() -> str:
    """How the user gets a fitting library: depends on whether this folder is a checkout or a copy."""
    root = os.path.dirname(os.path.dirname(_FOLDER))
    if os.path.exists(os.path.join(root, "src", "pyasync.h")):
        return f"run `make` in {root}"
    return "copy the whole folder gdb/ of a built pyasync again, or run `make install` there"


def load_library() -> ctypes.CDLL:
    """Open libpyasync.so and declare its functions. Raises LibraryError."""
    if not os.path.exists(_PATH):
        raise LibraryError(f"pyasync: {_PATH} is missing: {_what_to_do()}")
    try:
        library = ctypes.CDLL(_PATH)
        version = library.pa_abi_version()
    except (OSError, AttributeError) as error:
        reason = str(error)
        raise LibraryError(f"pyasync: cannot load {reason if _PATH in reason else f'{_PATH}: {reason}'}: {_what_to_do()}") from None
    if version != ABI_VERSION:
        raise LibraryError(f"pyasync: {_PATH} has interface version {version}, these commands need {ABI_VERSION}: {_what_to_do()}")

    session = ctypes.c_void_p
    counter = ctypes.POINTER(ctypes.c_uint64)
    library.pa_session_create.argtypes = [ctypes.POINTER(Target), ctypes.POINTER(session)]
    library.pa_session_destroy.argtypes = [session]
    library.pa_session_destroy.restype = None
    library.pa_session_run.argtypes = [session, ctypes.POINTER(Request)]
    library.pa_session_error.argtypes = [session]
    library.pa_session_error.restype = ctypes.c_char_p
    library.pa_session_select.argtypes = [session, ctypes.POINTER(Request), counter, ctypes.c_uint64, counter]
    library.pa_session_complete.argtypes = [session, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_uint64]
    library.pa_session_complete.restype = ctypes.c_uint64
    library.pa_session_memory.argtypes = [session, counter, counter]
    library.pa_session_memory.restype = None
    library.pa_struct_name.argtypes = [ctypes.c_uint32]
    library.pa_struct_name.restype = ctypes.c_char_p
    return library


def struct_name(library: ctypes.CDLL, structure: int) -> str:
    """What the debug symbols call a structure (STRUCT_*)."""
    return library.pa_struct_name(structure).decode()

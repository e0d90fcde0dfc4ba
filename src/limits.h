/*
 * Every bound on what is read, kept or printed, with its reason.
 *
 * The target is hostile: a crashed process is damaged memory. Each loop over target memory is bounded by one of these, and by a check
 * that it does not go round in circles. A bound that cuts something real makes the result say so; none is met by a healthy process
 * unless the comment says otherwise.
 */
#ifndef PA_LIMITS_H
#define PA_LIMITS_H

/* Frames of one stack. sys.setrecursionlimit() can allow more, a reader cannot use more. */
#define PA_MAX_STACK_DEPTH 65536u

/* Ids are 32-bit, and 2^28 tasks of 168 bytes are 45 GB. */
#define PA_MAX_NODES (1u << 28)

/* Interpreters and thread states: far above what one process can start. Threads are indexed by 16 bits. */
#define PA_MAX_INTERPRETERS 4096u
#define PA_MAX_THREADS      65535u

/* Slots of one awaited-by set: 16 bytes each, so 2^26 are 1 GB. */
#define PA_MAX_SET_SLOTS (1u << 26)

/* Entries of one dict that are looked at; sys.modules of a big service has a few thousand. */
#define PA_MAX_DICT_ENTRIES (1u << 20)

/* Elements of one list or tuple: 2^40 are 8 TB. No more are looked at than are shown. */
#define PA_MAX_SEQUENCE (1ull << 40)

/* Classes of one tp_mro: 64 bases by PA_MAX_BASES, and mixins. */
#define PA_MAX_MRO 1024u

/* Names in the classes of one tp_mro that are looked at for one; attributes of an instance, and fields of a dataclass, likewise. A class
   has some hundred. */
#define PA_MAX_CLASS_ENTRIES 16384u
#define PA_MAX_ATTRIBUTES    4096u

/* Attributes that are looked at for the fields of all dataclasses in one value: each field is looked for among its instance's attributes. */
#define PA_MAX_FIELD_SEARCH (1u << 18)

/* Classes of which one value asks what they are: a list of a million instances has a few. */
#define PA_MAX_VALUE_CLASSES 256u

/* Exceptions that are shown of one task: the one it ended with, its causes and contexts, the members of groups. */
#define PA_MAX_EXCEPTIONS 32u

/* Variables of one frame: their number is below 65536 in code that the compiler makes, since an instruction names them by 16 bits. */
#define PA_MAX_VARIABLES 65536u

/* Elements of one deque that are looked at: a loop has so many handles ready at most, a lock so many waiters. */
#define PA_MAX_DEQUE (1u << 24)

/* Characters of one string that are kept. CPython's own reader keeps 255; a cut is marked with an ellipsis and a count. */
#define PA_MAX_STRING 4096u

/* Bytes of one line table. Generated code reaches a few hundred KiB. */
#define PA_MAX_LINETABLE (16u << 20)

/* Bytes of one exception table: a big generated function has some ten thousand. Handlers that an exception goes through within one function,
   and with statements that stand in one another: the compiler allows 40 blocks, and each has at most three handlers. */
#define PA_MAX_EXCEPTIONTABLE (1u << 18)
#define PA_MAX_HANDLERS       128u
#define PA_MAX_WITHS          40u

/* Values on the stack of one frame: the compiler allows as many as co_stacksize, an int; code with that many would take seconds to run. */
#define PA_MAX_VALUE_STACK 65536u

/* Distinct instructions of which the with statements are remembered. */
#define PA_MAX_WITH_PLACES (1u << 22)

/* Entries of who holds what: a million tasks that hold some objects each. Context managers in context managers that are followed from one
   statement on; exit callbacks of one ExitStack. Objects that the frames of one stack have given back (Condition.wait()). */
#define PA_MAX_HOLDERS        (1u << 26)
#define PA_MAX_HELD_FROM_ONE  4096u
#define PA_MAX_EXIT_CALLBACKS 4096u
#define PA_MAX_RELEASED       64u

/* Objects that a task waits in that are shown of one task, and of one document; frames that are looked at for them; their attributes that are
   shown, of so many that are looked at. A pool has about ten; a task that waits in its own object would make a million documents of one. */
#define PA_POOLS_SHOWN         3u
#define PA_MAX_POOLS           4096u
#define PA_MAX_POOL_FRAMES     16u
#define PA_POOL_MEMBERS        12u
#define PA_MAX_POOL_ATTRIBUTES 256u

/* Entries of one object that are looked at for its owner; a lock that knows its owner has one holder. */
#define PA_MAX_HOLDERS_SEARCHED 4096u

/* Holders of one object that are written into a document, and that are named in a line of text. */
#define PA_HOLDERS_SHOWN 10u
#define PA_HOLDERS_NAMED 2u

/* Entries of a free-threaded code object's per-thread bytecode array. */
#define PA_MAX_TLBC 65536u

/* Greenlets: gevent servers have some 100,000; and the types that they are of. */
#define PA_MAX_GREENLETS      (1u << 24)
#define PA_MAX_GREENLET_TYPES 4096u

/* Items between greenlets' exception states and their threads': one a generator that handles an exception, and one greenlet of each thread
   is followed. */
#define PA_MAX_EXCEPTION_ITEMS (1u << 22)

/* Parents that have ended which lead to the one that has not: each switch passes over them, so nobody makes many. */
#define PA_MAX_DEAD_PARENTS 1024u

/* Children of gather() calls that are counted, of all that are shown: a million tasks are waited for once, not once by each other. */
#define PA_MAX_COUNTED (1u << 24)

/* Entries of a loop's dict of signal handlers: there are 64 signals, and entries that were deleted. */
#define PA_MAX_SIGNAL_HANDLERS 1024u

/* Timers of a loop that are looked at for the next one, if the first is cancelled: a callback may have cancelled some thousands. */
#define PA_MAX_TIMERS 65536u

/* Futures that loops set when a socket is ready: few for each of its file descriptors, of which as many are looked at. */
#define PA_MAX_WATCHED (1u << 20)

/* What was submitted to executors and has not ended: of all together so much is looked at. */
#define PA_MAX_SUBMITTED (1u << 20)

/* Modules with thread-local variables. A big process has some dozens. */
#define PA_MAX_TLS_MODULES 4096u

/* Words of an object of gevent's that are looked at, the biggest (loop) has 29; types that are remembered by what they are to gevent. */
#define PA_MAX_GEVENT_WORDS 64u
#define PA_MAX_GEVENT_TYPES 65536u

/* Links and waiters of all of gevent's objects together: each greenlet waits for few. */
#define PA_MAX_GEVENT_ITEMS (1u << 24)

/* Variables of a frame that are looked at for a greenlet; SQLAlchemy's frames have eight. */
#define PA_MAX_BRIDGE_VARIABLES 256u

/* Awaitables around one another, as anext(iterator, default) around __anext__() around an async generator. */
#define PA_MAX_WRAPPERS 3u

/* Coroutines that are followed to find the one that a portal drives: it has one or two. Portals inside one another. */
#define PA_MAX_PORTAL_TRIES 4u
#define PA_MAX_PORTALS      8u

/* Those who wait for one greenlet. Of some thousand nobody reads more, and each member of a pool has as many. */
#define PA_MAX_GREENLET_AWAITERS 4096u

/* Characters of a monitoring tool's name that are shown; places of generators that are told apart. */
#define PA_MAX_TOOL_NAME 64u
#define PA_MAX_REFRESHED 4096u

/* Bytes of greenlet's C++ object that are searched for its own address; it stands at 160 to 184 in 3.1.1 to 3.5.3. */
#define PA_MAX_GREENLET_IMPL 256u

/* Steps along tp_base; the longest chain of bases in the standard library has 7. */
#define PA_MAX_BASES 64u

/* Native frames of one thread: 8 MB of stack are used up by 65,536 calls of 128 bytes. A debugger needs 60 us for each. */
#define PA_MAX_NATIVE_FRAMES 65536u

/* Files that a process had mapped; its arguments, and entries of sys.path; characters of one of these: file names are shorter. */
#define PA_MAX_OBJECT_FILES 65536u
#define PA_MAX_ARGUMENTS    1024u
#define PA_MAX_ARGUMENT     1024u
/* Bytes of all arguments, where the debugger tells them: a report shows no more. */
#define PA_MAX_ARGUMENT_BYTES (1u << 16)

/* Levels of a context's trie: 5 bits of a 32-bit hash each, and one for what collides. */
#define PA_MAX_HAMT_DEPTH 8u

/* Edges that are derived: as many as a process with so many tasks has, gather() calls included. */
#define PA_MAX_DERIVED (1u << 26)

/* Attributes of one object that are looked at for the coroutine that it holds: request and connection objects have some 30. */
#define PA_MAX_HELD_ATTRIBUTES 1024u

/* Distinct types, code objects and files that are remembered: a big service has some 100,000. */
#define PA_MAX_TYPES (1u << 20)
#define PA_MAX_CODES (1u << 22)

/* Distinct event loops: indexed by 16 bits. */
#define PA_MAX_LOOPS 65535u

/* Objects of a small process, in which ended tasks are looked for unasked: a few milliseconds. asyncio alone has some 20,000. */
#define PA_SMALL_PROCESS (1u << 16)

/* Problems that are kept one by one; more are only counted. */
#define PA_MAX_PROBLEMS 256u

/* Cycles of awaiters that are named one by one. */
#define PA_MAX_CYCLES 64u

/* Size of any structure in the target, as its debug offsets tell. _PyRuntimeState with its static objects is below 1 MB. */
#define PA_MAX_STRUCT_SIZE (16u << 20)

/* Size of an object's fixed part, of those that are read in one piece (task, generator, frame, code): below 300 bytes in 3.15. */
#define PA_MAX_OBJECT_SIZE 4096u

/* The library's own memory for one session. A million tasks take less than 100 MB. */
#define PA_MAX_MEMORY (8ull << 30)

/* Reads of what is not mapped: block size (what is fetched for nothing against a call a block), page size for blocks that are not
   whole, blocks that are kept (64 MiB), of which few, as many as a processor's cache holds, are enough where each is read once, and
   places for them. */
#define PA_CACHE_BLOCK      16384u
#define PA_CACHE_PAGE       4096u
#define PA_CACHE_BLOCKS     4096u
#define PA_CACHE_FEW_BLOCKS 128u
#define PA_CACHE_PLACES     8192u

/* Tasks of a list that are read together: what the list has brought near is used before it is far again. */
#define PA_READ_BATCH 512u

/* Runs of memory that a debugger may list. */
#define PA_MAX_RANGES (1u << 20)

/* Work between two looks at the clock, and between two calls of poll(). */
#define PA_POLL_STEPS       256u
#define PA_POLL_NANOSECONDS 20000000u

/* What is printed unless the user asks for more: groups, levels of awaited-by nesting, names of a group's tasks. */
#define PA_DEFAULT_GROUPS 50u
#define PA_DEFAULT_DEPTH  40u
#define PA_GROUP_NAMES    5u
#define PA_REPORT_GROUPS  5u

/* Values of variables: levels of containers in containers (an instance counts twice), and elements of one container or characters of one str, as many
   as debuggers print of an array. One value may take 20 bytes for each of the latter. */
#define PA_DEFAULT_VALUE_DEPTH  3u
#define PA_DEFAULT_VALUE_LENGTH 200u
#define PA_MAX_VALUE_BYTES      (1u << 20)

/* For the totals in the head: tasks that are asked one by one what they wait on, and how many of one stack have to be what it tells
   until the others are taken to be so; below 255. */
#define PA_MAX_TOTALS    65536u
#define PA_TRUSTED_STACK 100u

/* Tasks of a group that are compared in what they wait for. */
#define PA_MAX_WAIT_TOGETHER 1000u

/* Elements of containers that all searches for findings look at together: waiters of locks, children of groups, handles that are ready,
   references. A process with a million tasks has some million; in damaged memory a million objects may share one container. */
#define PA_MAX_LOOKED (1u << 24)

/* Findings that are kept one by one, and lines of the head for them. */
#define PA_MAX_FINDINGS  1000u
#define PA_HEAD_FINDINGS 3u
/* Tasks with the same stack of which each is asked what it waits on, to find what all of them wait on. */
#define PA_MAX_SURVEY 256u

/* Tasks and threads that one search for deadlocks asks, and holders of one lock: far above any circle that a reader could follow. */
#define PA_MAX_PARTIES      4096u
#define PA_MAX_LOCK_HOLDERS 64u

/* Objects whose references are counted together, and references that are looked at for them. */
#define PA_MAX_FELLOWS    256u
#define PA_MAX_REFERENCES 16384u

/* Cancel requests of a task that are too many; callbacks, and ended awaiters, of a future. */
#define PA_MANY_CANCELS   100u
#define PA_MANY_CALLBACKS 1000u

/* Lines of the head. */
#define PA_HEAD_LINES 12u

#endif

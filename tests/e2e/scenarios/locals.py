"""
Variables of every kind of object, in coroutines, generators, functions, cells and free variables. What is shown of each is its
repr(); of instances whose repr() only tells their address, the attributes are shown too (attributes_of()).
"""

import asyncio
import collections
import dataclasses
import enum
import functools
import json
import socket
import sys
import time

import oracle


class Plain:
    def __init__(self, **attributes):
        self.__dict__.update(attributes)


class Inline:
    def __init__(self):
        self.first = 1
        self.second = "two"
        self.third = [3]


class Empty:
    pass


class Slots:
    __slots__ = ("host", "port", "_unset", "__private")

    def __init__(self):
        self.host = "example.com"
        self.port = 80
        self.__private = None


class MoreSlots(Slots):
    __slots__ = ("extra",)

    def __init__(self):
        super().__init__()
        self.extra = b"more"


class SlotsAndDict(Slots):
    def __init__(self):
        super().__init__()
        self.own = 1.5


class Outer:
    class Nested:
        def method(self):
            pass


class Talks:
    """An instance whose repr() is written in Python: it cannot be run, so what it holds is shown."""

    def __init__(self):
        self.words = ("hello",)

    def __repr__(self):
        return "hello, I am not what you read"


@dataclasses.dataclass
class Point:
    x: int
    y: float = 2.5
    label: str = "p"
    unseen: int = dataclasses.field(default=7, repr=False)
    nested: object = None


@dataclasses.dataclass(slots=True, frozen=True)
class SlotPoint:
    x: int
    y: int = 3


class Color(enum.Enum):
    RED = 1
    BLUE = "blue"


class Number(enum.IntEnum):
    ONE = 1


class Word(enum.StrEnum):
    YES = "yes"


class Bits(enum.Flag):
    A = 1
    B = 2


class Problem(Exception):
    pass


class MyList(list):
    pass


class MyDict(dict):
    pass


class LoudDict(dict):
    def __repr__(self):
        return "LOUD"


class MyStr(str):
    pass


class MyInt(int):
    pass


class LoudInt(int):
    def __repr__(self):
        return "LOUD"


class MySet(set):
    pass


class MyFloat(float):
    pass


class MyBytes(bytes):
    pass


Pair = collections.namedtuple("Pair", "left right")


def attributes_of(thing, **attributes):
    """The form of an instance."""
    head = f"<{type(thing).__module__}.{type(thing).__qualname__} object at {id(thing):#x}"
    return head + (": " + ", ".join(f"{name}={text}" for name, text in attributes.items()) if attributes else "") + ">"


forms = {}  # by id: what is shown where that is not the repr()


def shown(thing, text):
    forms[id(thing)] = text
    oracle.keep.append(thing)
    return thing


oracle.values = lambda thing: forms.get(id(thing)) or repr(thing)


async def numbers():
    zero, one, negative, big = 0, 1, -5, 2**30
    huge, lowest, thousand_digits = 10**40 + 7, -(2**63), 3**2000
    small_loop = [n * n for n in range(3)]
    true, false, none, dots, not_implemented = True, False, None, ..., NotImplemented
    floats = [0.0, -0.0, 1.0, 0.1, 1e16, 1e-5, 123456789.125, 1e300, 5e-324, float("inf"), float("-inf"), float("nan")]
    third, whole = 1 / 3, 100.0
    complexes = [1j, 1 + 2j, -0.0 + 1j, complex(1, -0.0), complex(float("nan"), float("inf")), 1e20 + 0.5j]
    mine, mine_too = MyInt(12), MyFloat(2.5)
    loud = shown(LoudInt(3), "LOUD")
    forms[id(loud)] = f"<LoudInt at {id(loud):#x}: 3>"
    await asyncio.sleep(1000)


async def texts():
    empty, plain, quotes, both, slashes = "", "plain", "it's", "it's \"both\"", "back\\slash"
    latin, wide, astral, controls = "café\xa0ÿ", "€中\u200b", "🐍\U0010ffff", "\0\t\n\r\x1b\x7f\u202e"
    surrogate = "lone \ud800"
    mine = MyStr("mine")
    nothing, data, every = b"", b"it's\n\0\xff\\", bytes(range(256))
    array, no_array = bytearray(b'a"\x00'), bytearray()
    shifted = bytearray(b"0123456789")
    del shifted[:4]
    my_bytes = MyBytes(b"mine")
    await asyncio.sleep(1000)


async def containers():
    empty_list, empty_tuple, empty_dict, empty_set, no_frozen = [], (), {}, set(), frozenset()
    one, pair, nested = (1,), (1, "two"), [1, [2, (3, [4])], {"k": {5}}]
    numbers_in_set, frozen = {1, 2, 3}, frozenset({"a", 1})
    mixed = {"a": 1, 2: "b", (3, 4): None, None: [True]}
    words = {"a": 1, "b": 2}
    deleted = {"a": 1, "b": 2, "c": 3}
    del deleted["b"]
    large = {n: n for n in range(100)}
    holes = set(range(20))
    holes -= {3, 7}
    me = [1]
    me.append(me)
    my_map = {"self": None}
    my_map["self"] = my_map
    mutual = ([],)
    mutual[0].append(mutual)
    mine, my_dict, my_set, pair_of = MyList([1]), MyDict(a=1), MySet({1}), Pair("l", [1])
    loud = LoudDict(a=1)
    shown(loud, f"<LoudDict at {id(loud):#x}: {{'a': 1}}>")
    counter = collections.defaultdict(int, a=1)
    shown(counter, f"<collections.defaultdict at {id(counter):#x}: {{'a': 1}}>")
    split = vars(Inline())
    long_list = list(range(1000))
    await asyncio.sleep(1000)


async def instances():
    empty = Empty()
    inline = Inline()
    shown(inline, attributes_of(inline, first=1, second="'two'", third="[3]"))
    taken = Inline()
    taken.__dict__["fourth"] = 4  # the dict has taken over the values
    shown(taken, attributes_of(taken, first=1, second="'two'", third="[3]", fourth=4))
    made = Inline()
    vars(made)  # a dict that shares the values in the instance
    shown(made, attributes_of(made, first=1, second="'two'", third="[3]"))
    replaced = Inline()
    replaced.__dict__ = {"other": 1}
    shown(replaced, attributes_of(replaced, other=1))
    many = Plain(**{f"a{n}": n for n in range(50)})
    shown(many, attributes_of(many, **{f"a{n}": n for n in range(50)}))
    accents = Plain(größe=1)
    shown(accents, attributes_of(accents, größe=1))
    slots = Slots()
    shown(slots, attributes_of(slots, _Slots__private=None, host="'example.com'", port=80))
    more = MoreSlots()
    shown(more, attributes_of(more, extra="b'more'", _Slots__private=None, host="'example.com'", port=80))
    both = SlotsAndDict()
    shown(both, attributes_of(both, own=1.5, _Slots__private=None, host="'example.com'", port=80))
    nested = Outer.Nested()
    talks = Talks()
    shown(talks, attributes_of(talks, words="('hello',)"))
    point, slot_point = Point(1, nested=Point(2)), SlotPoint(4)
    circle = Point(0)
    circle.nested = circle
    red, blue, number, word, bits, no_bits = Color.RED, Color.BLUE, Number.ONE, Word.YES, Bits.A | Bits.B, Bits(0)
    me = Plain(me=None)
    me.me = me
    shown(me, attributes_of(me, me="..."))
    partial = functools.partial(int, "1", base=2)
    shown(partial, f"<functools.partial at {id(partial):#x}: func={int!r}, args=('1',), keywords={{'base': 2}}>")
    thing = object()
    shown(thing, f"<object at {id(thing):#x}>")
    await asyncio.sleep(1000)


async def others():
    def local(x):
        return x

    function, builtin, method_of, built_method = json.dumps, len, Outer.Nested().method, [].append
    shown(method_of, f"<bound method Outer.Nested.method of {method_of.__self__!r}>")
    module, built_in, frozen, own = json, sys, sys.modules["zipimport"], sys.modules["__main__"]
    integer, cls, nested, metaclass, exception_class = int, Plain, Outer.Nested, enum.EnumType, asyncio.CancelledError
    plain, arguments, none = ValueError("bad"), Problem(1, [2]), KeyError()
    unicode_error = UnicodeDecodeError("utf-8", b"\xff", 0, 1, "why")
    group = ExceptionGroup("many", [ValueError(1), TypeError("2")])
    os_error = FileNotFoundError(2, "No such file", "/nowhere")
    coroutine = asyncio.sleep(1)
    oracle.keep.append(coroutine)
    generator = (n for n in range(2))
    async_generator = agen()
    view = memoryview(b"abc")
    shown(view, f"<memoryview at {id(view):#x}>")
    with socket.socket() as closed:
        pass
    shown(closed, attributes_of(closed, _closed=True, _io_refs=0))
    await asyncio.sleep(1000)


async def agen():
    yield 1


async def closures(argument, *arguments, only=1, **keywords):
    held, unbound, later = [1], 2, 3

    async def inner():
        nonlocal later
        later = 4
        seen = held, argument
        await asyncio.sleep(1000)

    del unbound
    await inner()
    unbound = 1


def generator_in_the_middle(value):
    doubled = value * 2
    yield from asyncio.sleep(1000).__await__()
    return doubled


class Awaits:
    def __await__(self):
        first = 1
        return (yield from generator_in_the_middle(first))


async def through_generators():
    before = "before"
    await Awaits()


async def async_generator(limit):
    for n in range(limit):
        await asyncio.sleep(1000)
        yield n


async def through_async_generator():
    async for item in async_generator(3):
        print(item)


def function_of_executing(depth):
    level = [depth]
    if depth > 0:
        function_of_executing(depth - 1)
    else:
        oracle.stop()


async def executing():
    mine = "mine"
    await asyncio.sleep(0.05)
    function_of_executing(2)


async def never_started(parameter, other="default"):
    local = parameter
    return lambda: (other, local)


def start_late():
    time.sleep(0.02)
    oracle.keep.append(asyncio.create_task(never_started([1])))


async def main():
    coroutines = (numbers(), texts(), containers(), instances(), others(), through_generators(), through_async_generator())
    tasks = [asyncio.create_task(coroutine) for coroutine in coroutines]
    tasks.append(asyncio.create_task(closures("a", 1, 2, only=3, word="key")))
    tasks.append(asyncio.create_task(executing()))
    # It has not begun when the one that executes stops the process.
    asyncio.get_running_loop().call_later(0.04, start_late)
    forms[id(tasks)] = "[" + ", ".join(f"<_asyncio.Task at {id(task):#x}>" for task in tasks) + "]"
    del coroutines
    await asyncio.gather(*tasks)


asyncio.run(main())

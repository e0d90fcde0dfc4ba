"""
What asyncio code waits in most: context managers made of generators, asynchronous generators below task groups,
timeouts, threads, queues, locks, streams, programs. Each chain ends at the future that the task is suspended on.
"""

import asyncio
import contextlib
import threading

import oracle

oracle.lengths = True
at_work = threading.Event()
ready = set()


def work():
    at_work.set()
    threading.Event().wait()


async def sleeps():
    await asyncio.sleep(1000)


@contextlib.asynccontextmanager
async def entering():
    await sleeps()
    yield


@contextlib.asynccontextmanager
async def leaving():
    yield
    await sleeps()


@contextlib.asynccontextmanager
async def transparent():
    yield


async def enters():
    async with entering():
        pass


async def leaves():
    async with leaving():
        pass


async def inside():
    async with transparent(), contextlib.AsyncExitStack() as stack:
        await stack.enter_async_context(transparent())
        await sleeps()


async def in_exit_stack():
    async with contextlib.AsyncExitStack() as stack:
        await stack.enter_async_context(leaving())


@contextlib.asynccontextmanager
async def decorates():
    await sleeps()
    yield


@decorates()
async def decorated():
    pass


async def numbers():
    yield 1
    await sleeps()


async def iterates():
    async with asyncio.TaskGroup() as group:
        group.create_task(consumes(), name="consumes")
        async for _ in numbers():
            pass


async def consumes():
    async with contextlib.aclosing(numbers()) as items:
        async for _ in items:
            pass


async def in_timeout():
    async with asyncio.timeout(1000):
        await sleeps()


async def in_executor():
    await asyncio.get_running_loop().run_in_executor(None, work)


async def holds(lock):
    async with lock:
        await sleeps()


async def waits_for_condition(condition):
    async with condition:
        await condition.wait()


async def waits_at(barrier):
    async with barrier:
        pass


async def puts(queue):
    await queue.put(1)
    await queue.put(2)


async def handle(reader, writer):
    await reader.readexactly(1)
    ready.add("server")
    await reader.read()


async def reads_line(port):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"1")
    ready.add("client")
    await reader.readline()


async def drains(port):
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.transport.set_write_buffer_limits(0)
    writer.write(bytes(8 << 20))
    ready.add("drain")
    await writer.drain()


async def never_reads(reader, writer):
    writer.transport.pause_reading()
    await sleeps()


async def runs_program(wait):
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec("cat", stdin=pipe, stdout=pipe)
    oracle.keep.append(process)
    ready.add(wait)
    await (process.wait() if wait == "wait" else process.stdout.readline() if wait == "readline" else communicates(process))


async def communicates(process):
    process.stdin.close = lambda: None  # the program does not end
    await process.communicate(b"1")


async def main():
    lock, condition, queue, full = asyncio.Lock(), asyncio.Condition(), asyncio.Queue(), asyncio.Queue(1)
    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    deaf = await asyncio.start_server(never_reads, "127.0.0.1", 0)
    async with asyncio.TaskGroup() as group:
        for coroutine in (
            enters(), leaves(), inside(), in_exit_stack(), decorated(), iterates(), in_timeout(), in_executor(),
        ):  # fmt: skip
            group.create_task(coroutine, name=coroutine.__name__)
        for name, coroutine in {
            "to_thread": asyncio.to_thread(work),
            "get": queue.get(),
            "put": puts(full),
            "join": joins(),
            "holder": holds(lock),
            "lock": holds(lock),
            "semaphore": holds(asyncio.Semaphore(0)),
            "event": asyncio.Event().wait(),
            "condition": waits_for_condition(condition),
            "barrier": waits_at(asyncio.Barrier(2)),
            "wait_for": asyncio.wait_for(queue.get(), 1000),
            "readline": reads_line(port_of(server)),
            "drain": drains(port_of(deaf)),
            "program wait": runs_program("wait"),
            "program readline": runs_program("readline"),
            "program communicate": runs_program("communicate"),
        }.items():
            group.create_task(coroutine, name=name)
        while len(ready) < 6 or not at_work.is_set():
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        asyncio.get_running_loop().call_soon(oracle.stop_when_idle)


async def joins():
    queue = asyncio.Queue()
    queue.put_nowait(1)
    await queue.join()


def port_of(server):
    return server.sockets[0].getsockname()[1]


asyncio.run(main())

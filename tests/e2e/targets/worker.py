"""100 tasks; for every line of standard input, each hands its number to the main one, which prints the line and the sum."""

import asyncio
import sys


async def works(number, requests, answers):
    while True:
        await requests.get()
        await answers.put(number)


async def main():
    loop, answers = asyncio.get_running_loop(), asyncio.Queue()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    queues = [asyncio.Queue() for _ in range(100)]
    tasks = [asyncio.create_task(works(number, queue, answers)) for number, queue in enumerate(queues)]
    await asyncio.sleep(0)
    print("ready", flush=True)
    while line := await reader.readline():
        for queue in queues:
            queue.put_nowait(None)
        total = sum([await answers.get() for _ in queues])
        print(line.decode().strip(), total, flush=True)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    print("done", flush=True)


asyncio.run(main())

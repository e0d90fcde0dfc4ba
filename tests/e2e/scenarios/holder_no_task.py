"""No task alive: two threads wait for each other's locks, and say so."""

import asyncio
import threading
import time

import oracle

stock, orders = threading.Lock(), threading.Lock()


def crosses(mine, other):
    with mine:
        time.sleep(0.2)
        with other:
            pass


asyncio.run(asyncio.sleep(0))
for name, locks in (("sell", (stock, orders)), ("refund", (orders, stock))):
    threading.Thread(target=crosses, args=locks, name=name, daemon=True).start()
time.sleep(0.5)
oracle.finding("deadlock", [], [stock, orders])
oracle.stop()

"""The service of a small web shop: product pages with thumbnails, orders, a heartbeat. Its own smoke test crashes it.

A page is rendered once for all requests that want it at the same time, and makes each of its thumbnails in a task of its own; one
task at a time may use the memory that resizing takes. So when native code crashes in a thumbnail, its backtrace ends in the event
loop and says nothing of the page, the requests and the customers that wait for it.
"""

import asyncio
import ctypes

WIDTHS = (160, 320, 640)

libthumb = ctypes.CDLL("/srv/shop/libthumb.so")
libthumb.thumb_resize.argtypes = (ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_int)
libthumb.thumb_resize.restype = None


def resize(photo, width):
    height = width * 3 // 4
    thumb = ctypes.create_string_buffer(width * height)
    libthumb.thumb_resize(photo, thumb, width, height)
    return thumb.raw


class Storage:
    """Where the photos are: "P" (plain) or "I" (interlaced), width, height, pixels."""

    photos = {
        "kettle": b"P" + bytes((64, 48)) + bytes(64 * 48),
        "teapot": b"I" + bytes((64, 48)) + bytes(64 * 48),
    }

    async def read(self, product):
        await asyncio.sleep(0.05)
        return self.photos[product]


class Shop:
    def __init__(self):
        self.storage = Storage()
        self.resizing = asyncio.Lock()
        self.orders = asyncio.Queue()
        self.pages = {}
        self.status = "starting"

    async def thumbnail(self, product, width):
        async with self.resizing:
            photo = await self.storage.read(product)
            return resize(photo, width)

    async def render(self, product):
        async with asyncio.TaskGroup() as group:
            thumbs = [group.create_task(self.thumbnail(product, width), name=f"thumb:{product}@{width}") for width in WIDTHS]
        return f"{product} with thumbnails of {sum(len(thumb.result()) for thumb in thumbs)} bytes"

    async def page(self, product):
        if product not in self.pages:
            self.pages[product] = asyncio.create_task(self.render(product), name=f"page:{product}")
            self.pages[product].add_done_callback(lambda page: self.pages.pop(product))
        return await asyncio.shield(self.pages[product])

    async def order(self, product):
        await self.orders.put(product)
        return f"{product} will be with you soon"

    async def serve(self, reader, writer):
        while request := (await reader.readline()).decode().split():
            verb, product = request
            async with asyncio.timeout(30):
                reply = await (self.page(product) if verb == "GET" else self.order(product))
            writer.write(reply.encode() + b"\n")
            await writer.drain()
        writer.close()

    async def pack_orders(self):
        while True:
            await self.orders.get()
            await asyncio.sleep(0.01)
            self.orders.task_done()

    async def heartbeat(self):
        while True:
            self.status = f"{self.orders.qsize()} orders to pack, {len(self.pages)} pages to render"
            await asyncio.sleep(10)


async def customer(port, *requests, thinks=0):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for request in requests:
        writer.write(request.encode() + b"\n")
        await reader.readline()
        await asyncio.sleep(thinks)
    writer.close()


async def smoke_test(port):
    async with asyncio.TaskGroup() as group:
        group.create_task(customer(port, "GET kettle", "BUY kettle", "GET teapot"), name="customer-1")
        group.create_task(customer(port, "GET kettle", "GET teapot"), name="customer-2")
        group.create_task(customer(port, "GET kettle", "BUY kettle", thinks=5), name="customer-3")


async def main():
    shop = Shop()
    server = await asyncio.start_server(shop.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, asyncio.TaskGroup() as group:
        group.create_task(shop.heartbeat(), name="heartbeat")
        group.create_task(shop.pack_orders(), name="packer-1")
        group.create_task(shop.pack_orders(), name="packer-2")
        group.create_task(smoke_test(port), name="smoke-test")
        await server.serve_forever()


asyncio.run(main())

"""Names that mean something to Graphviz and to SVG: quotes, escapes, entities, records, markup, a forged node."""

import asyncio

import oracle

NAMES = (
    'quote " inside',
    '"];forged [label="forged"];x [label="',
    "backslash at the end \\",
    '\\"',
    "\\N \\G \\E \\T \\l \\r \\n \\",
    "&amp; &#65; &lt;b&gt; &",
    "<b>bold</b>",
    "</title></svg><script>alert(1)</script>",
    "{record|<port>field}",
    "line\nbreak",
    "--> ]]> <!--",
    "-> n0; } digraph {",
    "üñí 🐍",
)


async def sleeps():
    await asyncio.sleep(1000)


async def main():
    async with asyncio.TaskGroup() as group:
        for name in NAMES:
            group.create_task(sleeps(), name=name)
        group.create_task(oracle.stop_after_this())


sleeps.__code__ = sleeps.__code__.replace(co_filename='/f/"];\\&amp;.py', co_qualname='<sleeps>\\"')

asyncio.run(main())

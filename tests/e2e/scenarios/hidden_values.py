"""
Secrets in variables, context variables and exceptions, in every place that a service keeps them in. Each contains
the word SECRET in one of these forms: nothing of it may be shown. What is no secret contains the word HARMLESS, and must be.
"""

import asyncio
import collections
import contextvars
import dataclasses
import urllib.parse

import oracle

SECRET = "hunter2-SECRET-hunter2"
TOKEN = "ghp_SECRETx7Qp2mZ9LkV4tR8wY1bN6cJ3dF5gH0s"
HEX = "5ec2e7" + "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJTRUNSRVQifQ.SECRET5c2VjcmV0c2VjcmV0c2VjcmV0"
URL = f"postgresql://user:{SECRET}@db.example.com:5432/HARMLESS"
PEM = "-----BEGIN PRIVATE KEY-----\nMIISECRETSECRET\n-----END PRIVATE KEY-----\n"

api_key = contextvars.ContextVar("api_key")
innocent = contextvars.ContextVar("innocent")


@dataclasses.dataclass
class Config:
    host: str
    password: str
    nested: dict


class Client:
    def __init__(self):
        self.host = "HARMLESS.example.com"
        self._auth_token = SECRET
        self.headers = {"Authorization": f"Bearer {SECRET}", "Accept": "HARMLESS"}


class Slots:
    __slots__ = ("secret_key", "name")

    def __init__(self):
        self.secret_key = SECRET.encode()
        self.name = "HARMLESS"


class Opaque:
    def __init__(self):
        self.value = SECRET


Credentials = collections.namedtuple("Credentials", "login password")


async def variables():
    password = SECRET
    db_password = SECRET.encode()
    token = [SECRET]
    secrets = {"a": {"b": SECRET}}
    api_token = Opaque()
    passphrase = 123456789012
    otp = 123456
    auth = ("user", SECRET)
    cookie = {SECRET}
    plain = "HARMLESS"
    count, nothing, flag, password_file = 12, None, True, "/etc/HARMLESS"
    await asyncio.sleep(1000)


async def in_containers():
    nested = {"level": {"HARMLESS": [{"password": SECRET}, {"deep": {"db_password": {"x": SECRET}}}]}}
    header_bytes = {b"authorization": b"Bearer " + SECRET.encode(), b"accept": b"HARMLESS"}
    asgi = [(b"host", b"HARMLESS"), (b"authorization", b"Basic " + SECRET.encode()), (b"cookie", b"session=" + SECRET.encode())]
    pairs = [("Accept", "HARMLESS"), ("Authorization", f"Bearer {SECRET}"), ["X-Api-Key", SECRET], ("Set-Cookie", f"id={SECRET}")]
    flat = ["HARMLESS", "Authorization", f"Digest {SECRET}", "HARMLESS"]
    argv = ["prog", "--host", "HARMLESS", "--password", SECRET, f"--token={SECRET}", "--verbose"]
    named = [{"name": "HARMLESS", "value": "HARMLESS"}, {"name": "DB_PASSWORD", "value": SECRET}]
    of_tuple = {("HARMLESS", 1): {"token": SECRET}}
    in_set = frozenset({f"password={SECRET}"})
    raw = b"GET / HTTP/1.1\r\nHost: HARMLESS\r\nAuthorization: Bearer " + SECRET.encode() + b"\r\n\r\n"
    array = bytearray(raw)
    text = f"connect password={SECRET} to it"
    json_text = '{"user": "HARMLESS", "password": "' + SECRET + '"}'
    await asyncio.sleep(1000)


async def in_urls():
    url, bare = URL, f"user:{SECRET}@host"
    split = urllib.parse.urlsplit(URL)
    inside = f"cannot reach {URL}: refused"
    several = [URL, {"dsn": URL}]
    as_bytes = URL.encode()
    query = f"https://HARMLESS.example.com/?access_token={SECRET}&x=1"
    await asyncio.sleep(1000)


async def in_instances():
    config = Config("HARMLESS", SECRET, {"token": SECRET})
    client, slots, credentials = Client(), Slots(), Credentials("HARMLESS", SECRET)
    held = [Client(), {"a": Config("HARMLESS", SECRET, {})}]
    attribute = Client()
    setattr(attribute, f"token={SECRET}", 1)
    method = client.__init__
    error = ValueError(f"bad password={SECRET}")
    await asyncio.sleep(1000)


async def innocent_names():
    x, y, z, w = TOKEN, HEX, JWT, PEM
    many = [TOKEN, (HEX,), {JWT: 1}, {"HARMLESS": PEM}]
    as_bytes, padded = TOKEN.encode(), "x" * 250 + " " + TOKEN
    path, uuid = "/srv/HARMLESS/app.py", "123e4567-e89b-12d3-a456-426614174000"
    await asyncio.sleep(1000)


async def in_context():
    api_key.set(SECRET)
    innocent.set({"token": SECRET, "also": TOKEN, "HARMLESS": 1})
    await asyncio.sleep(1000)


class Problem(Exception):
    pass


async def fails():
    try:
        raise OSError(2, "no such HARMLESS", f"/x?token={SECRET}")
    except OSError as inner:
        raise Problem({"password": SECRET}, URL) from inner


async def main():
    oracle.failed += [asyncio.create_task(fails()), asyncio.create_task(fails())]
    async with asyncio.TaskGroup() as group:
        for function in (variables, in_containers, in_urls, in_instances, innocent_names, in_context):
            group.create_task(function(), name=function.__name__)
        await asyncio.sleep(0.01)
        group.create_task(oracle.stop_after_this())


asyncio.run(main())

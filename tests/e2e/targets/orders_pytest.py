"""Tests for pytest and pytest-asyncio, of which one passes, one hangs, one crashes. Named to be run by its path only."""

import asyncio
import ctypes

import pytest


class Stock:
    def __init__(self):
        self.lock = asyncio.Lock()

    async def take(self):
        await self.lock.acquire()


@pytest.fixture
async def stock():
    return Stock()


async def test_order(stock):
    await stock.take()


@pytest.mark.parametrize("currency", ["eur"])
async def test_refund(stock, currency):
    await stock.take()
    await asyncio.create_task(stock.take(), name=f"refund-{currency}")  # hangs


async def test_payment(stock):
    async def pay():
        ctypes.string_at(0)

    await asyncio.create_task(pay(), name="payment")

"""What a visitor sees of calls that the server refuses."""

import re
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import httpx
from playwright.sync_api import expect

from panels.site.gate import MOST_BYTES, SESSIONS_OF_ADDRESS
from tests.support.page import box, bubbles, buying, settle

ADDRESS = {"x-forwarded-for": "203.0.113.77"}  # no limit binds the machine's own visitors


def test_a_refused_call_says_why_and_for_how_long_and_what_was_typed_stays(open_page):
    page = buying(open_page)
    page.set_extra_http_headers(ADDRESS)
    refusal, typed = page.get_by_role("alert"), box(page)
    before, large = bubbles(page), "₹50" + " " * MOST_BYTES
    typed.evaluate("box => box.removeAttribute('maxlength')")
    typed.fill(large)
    typed.press("Enter")
    expect(refusal).to_contain_text("KiB")
    assert (bubbles(page), typed.input_value()) == (before, large)
    refusal.get_by_role("button").click()
    expect(refusal).to_have_count(0)
    with (
        httpx.Client(base_url=open_page.address, headers=ADDRESS, timeout=60) as client,
        ThreadPoolExecutor() as flood,
    ):
        for _ in range(SESSIONS_OF_ADDRESS):
            call = {"session_hash": uuid4().hex}
            flood.submit(client.post, "/gradio_api/cancel", json=call)
    page.reload()
    expect(refusal).to_contain_text(re.compile(r"again in \d+ s"))
    settle(page)
    expect(refusal).to_have_count(1)  # for all calls of an opening

"""The page in a real browser: it opens without a network, sorts, filters, and fits a phone.

Chromium without a window, driven through the pipe of its DevTools; nothing but the standard library.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

from extrinsic.report.page import write_report
from tests.report.runs import MANY, METRICS, STATES, Made, write_run

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--allow-file-access-from-files=false",
    "--host-resolver-rules=MAP * ~NOTFOUND",
)
PATIENCE = 180.0


class Browser:
    """One page: open it, run script in it, look at it; `requests` and `complaints`: what it did."""

    def __init__(self) -> None:
        assert CHROMIUM is not None
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self._happened: list[str] = []
        self._profile = tempfile.mkdtemp(prefix="extrinsic-browser-")
        to_read, self._write = os.pipe()
        self._read, to_write = os.pipe()
        for end in (to_read, to_write):
            os.set_inheritable(end, True)
        # The browser listens on descriptor 3 and answers on 4.
        command = f'exec "$@" 3<&{to_read} 4>&{to_write}'
        options = (*OPTIONS, f"--user-data-dir={self._profile}", "about:blank")
        self._process = subprocess.Popen(
            ["bash", "-c", command, "bash", CHROMIUM, *options],
            pass_fds=(to_read, to_write),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_read)
        os.close(to_write)
        self._pending, self._number, self._session = b"", 0, None
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(target for target in targets if target["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._write)
        os.close(self._read)
        shutil.rmtree(self._profile, ignore_errors=True)

    def call(self, method: str, **parameters: Any) -> Any:
        """Ask for something and wait for the answer."""
        self._number += 1
        asked: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            asked["sessionId"] = self._session
        os.write(self._write, json.dumps(asked).encode() + b"\0")
        while True:
            message = self._next()
            if message.get("id") == self._number:
                assert "error" not in message, message
                return message["result"]

    def open(self, path: Path, width: int, height: int = 900, dark: bool = False) -> None:
        """Open a file and wait until everything of it is there."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self._happened.clear()
        self.call("Page.navigate", url=path.resolve().as_uri())
        while "Page.loadEventFired" not in self._happened:
            self._next()

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def print(self) -> bytes:
        """The page as PDF."""
        answer = self.call("Page.printToPDF", printBackground=True, paperWidth=8.27, paperHeight=11.69)
        return base64.b64decode(answer["data"])

    def _next(self) -> Any:
        end = time.monotonic() + PATIENCE
        while b"\0" not in self._pending:
            ready, _, _ = select.select([self._read], [], [], max(0.0, end - time.monotonic()))
            assert ready, "the browser does not answer"
            part = os.read(self._read, 1 << 20)
            assert part, "the browser is gone"
            self._pending += part
        text, _, self._pending = self._pending.partition(b"\0")
        message = json.loads(text)
        self._look(message)
        return message

    def _look(self, message: Any) -> None:
        method, answer = message.get("method", ""), message.get("params", {})
        self._happened.append(method)
        if method == "Network.requestWillBeSent":
            self.requests.append(answer["request"]["url"])
        elif method == "Runtime.exceptionThrown" or (
            method == "Runtime.consoleAPICalled" and answer["type"] in ("error", "warning", "assert")
        ):
            self.complaints.append(json.dumps(answer))
        elif method == "Log.entryAdded" and answer["entry"]["level"] in ("error", "warning"):
            self.complaints.append(answer["entry"]["text"])


pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium to look at the page with")

SCRIPT = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    trackers = (SCRIPT, "a_tracker_with_quite_a_long_name_to_speak_of", *MANY[2:])
    return write_report(write_run(tmp_path_factory.mktemp("looked_at"), Made(trackers=trackers)))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as opened:
        yield opened


def shown(browser: Browser, column: int) -> list[str]:
    script = (
        f"[...document.querySelectorAll('#explorer tbody tr')].map(row => row.cells[{column}].textContent)"
    )
    found: list[str] = browser.run(script)
    return found


def choose(browser: Browser, name: str, value: str) -> None:
    """Set a control to the option with this text, as a person would."""
    browser.run(
        f"""(() => {{
            const one = document.querySelector('#explorer [name={name}]');
            one.value = one.options ? [...one.options].find(o => o.text === {value!r}).value : {value!r};
            one.dispatchEvent(new Event('input', {{bubbles: true}}));
        }})()"""
    )


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1400, 390])
def test_it_opens_from_a_file_and_fits(browser: Browser, page: Path, width: int, dark: bool) -> None:
    browser.requests.clear()
    browser.complaints.clear()
    browser.open(page, width, dark=dark)
    browser.run("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    assert browser.requests == [page.resolve().as_uri()]
    assert browser.complaints == []
    assert browser.run("document.documentElement.scrollWidth <= innerWidth")
    sizes = browser.run(
        "[...document.querySelectorAll('figure svg')].map(one => one.getBoundingClientRect())"
        ".map(box => [box.width, box.height])"
    )
    # The heat map is a table.
    assert len(sizes) == len(list((page.parent / "figures").iterdir())) - 1
    assert all(width > 200 and height > 60 for width, height in sizes)
    ink, paper = browser.run("['color', 'backgroundColor'].map(key => getComputedStyle(document.body)[key])")
    brightness = [sum(map(int, colour[4:-1].split(","))) for colour in (ink, paper)]
    assert (brightness[0] > brightness[1]) is dark


def test_names_stay_names(browser: Browser, page: Path) -> None:
    browser.open(page, 1400)
    assert browser.run(f"document.body.innerText.includes({SCRIPT!r})")
    assert browser.run("document.querySelectorAll('script').length") == 2


def test_numbers_sort_and_filter(browser: Browser, page: Path) -> None:
    browser.open(page, 1400)
    everything = len(shown(browser, 0))
    assert everything == len(METRICS)  # one target, variant and group of trackers
    numbers = [float(text.replace("−", "-")) for text in shown(browser, 4)]
    assert numbers == sorted(numbers)
    head = "[...document.querySelectorAll('#explorer th')].find(head => head.textContent === 'r')"
    browser.run(f"{head}.click()")
    down = [float(text.replace("−", "-")) for text in shown(browser, 7)]
    assert down == sorted(down, reverse=True) and max(down) > 0.8
    browser.run(f"{head}.click()")
    assert browser.run(f"{head}.getAttribute('aria-sort')") == "ascending"
    choose(browser, "text", "L2 last")
    assert shown(browser, 0) == ["L2"] and shown(browser, 1) == ["last turn"]
    key = "document.querySelector('#explorer tbody td').title"
    assert browser.run(key) == "l2"
    choose(browser, "text", "no such metric")
    assert shown(browser, 0) == []
    assert browser.run("document.querySelector('#explorer .count').textContent") == "0 of 0 shown."
    choose(browser, "text", "")
    choose(browser, "target", "any")
    assert len(shown(browser, 0)) == 4 * everything
    assert browser.run(
        "[...document.querySelectorAll('#explorer th')].some(h => !h.hidden && h.textContent === 'target')"
    )
    choose(browser, "systems", "any")
    assert len(shown(browser, 0)) == 60
    browser.run("document.querySelector('#explorer .more button').click()")
    assert len(shown(browser, 0)) == 8 * everything


def test_the_heat_map_has_a_switch(browser: Browser, page: Path) -> None:
    """Every measure and target fills the same cells, with the numbers of the table of all of them."""
    browser.open(page, 1400)
    cells = "[...document.querySelectorAll('.heat td[data-row]')].map(cell => cell.textContent)"
    selects = "document.querySelectorAll('#measures select')"
    change = "dispatchEvent(new Event('input', {bubbles: true}))"
    first = browser.run(cells)
    browser.run(f"{selects}[0].value = 'pearson'; {selects}[0].{change}")
    assert browser.run(cells) != first
    tooltips = "[...document.querySelectorAll('.heat tbody th')].map(head => head.textContent)"
    accuracy = browser.run(tooltips).index("accuracy")
    line = f"[...document.querySelectorAll('.heat tbody tr')][{accuracy}].cells[1].textContent"
    choose(browser, "text", "accuracy every")
    assert shown(browser, 7)[0][:2] == browser.run(line)[:2]
    browser.run(f"{selects}[0].value = 'share'; {selects}[0].{change}")
    assert browser.run(cells) == first
    browser.run(f"{selects}[1].selectedIndex = 1; {selects}[1].{change}")
    assert browser.run(cells) != first


def test_a_name_opens_its_definition(browser: Browser, page: Path) -> None:
    """Also by a finger: a title attribute alone does not open on a phone."""
    browser.open(page, 390)
    browser.run("document.querySelector('#verdict .term').click()")
    shown_text = browser.run("document.querySelector(':popover-open').innerText")
    assert "rl.live" in shown_text


def test_a_phone_has_a_menu_and_a_column_that_stays(browser: Browser, page: Path) -> None:
    browser.open(page, 390)
    assert not browser.run("document.querySelector('nav details').open")
    browser.run("document.querySelector('nav summary').click()")
    assert browser.run("document.querySelector('nav details').open")
    browser.run("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    first = "getComputedStyle(document.querySelector('.scroll table td')).position"
    assert browser.run(first) == "sticky"


def test_tables_of_the_page_sort(browser: Browser, page: Path) -> None:
    browser.open(page, 1400)
    table = "document.querySelector('#trackers table')"
    column = (
        f"[...{table}.tBodies[0].rows].map(row => parseFloat(row.cells[1].textContent.replace('−', '-')))"
    )
    browser.run(f"{table}.tHead.rows[0].cells[1].click()")
    down = browser.run(column)
    browser.run(f"{table}.tHead.rows[0].cells[1].click()")
    assert len(down) == len(MANY) and down == sorted(down, reverse=True)
    assert browser.run(column) == sorted(down)


def test_it_prints(browser: Browser, page: Path) -> None:
    browser.open(page, 1400)
    assert browser.print().startswith(b"%PDF")
    browser.call("Emulation.setEmulatedMedia", media="print")
    assert browser.run("getComputedStyle(document.querySelector('.controls')).display") == "none"
    assert browser.run("document.documentElement.scrollWidth <= innerWidth")
    browser.call("Emulation.setEmulatedMedia", media="")


def test_a_study_of_outcomes_opens(browser: Browser, tmp_path: Path) -> None:
    path = write_report(write_run(tmp_path, STATES))
    browser.complaints.clear()
    browser.open(path, 390)
    assert browser.complaints == []
    assert browser.run("document.documentElement.scrollWidth <= innerWidth")
    assert len(shown(browser, 0)) == 3

"""Chromium without a window, driven through the pipe of its DevTools; nothing but the standard library."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any

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

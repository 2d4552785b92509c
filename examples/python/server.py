"""Serves statistics of measurements: `python3 server.py`."""

import pathlib
import sys
import threading

import obvia

IDL = pathlib.Path(__file__).with_name("statistics.idl")
E_ILLEGAL_METHOD_CALL = 0x8000000E


@obvia.implements("IStatistics", idl=IDL)
class Statistics:
    def __init__(self):
        # Several threads call this object: one for each thread of a client.
        self.lock = threading.Lock()
        self.values = []
        self.watchers = []

    def record(self, values):
        with self.lock:
            self.values += values
            watchers = list(self.watchers)
        for limit, watcher in watchers:
            try:
                for value in values:
                    if value > limit:
                        watcher.exceeded(value)
            except obvia.Error:
                # The watcher's process has ended.
                with self.lock:
                    self.watchers = [other for other in self.watchers if other[1] is not watcher]

    def summarize(self):
        with self.lock:
            values = list(self.values)
        if not values:
            raise obvia.Error(E_ILLEGAL_METHOD_CALL, "there are no measurements yet")
        mean = sum(values) / len(values)
        return {"count": len(values), "mean": mean, "least": min(values), "greatest": max(values)}

    def watch(self, limit, watcher):
        with self.lock:
            self.watchers.append((limit, watcher))


with obvia.serve("statistics", Statistics()):
    print("serving statistics; Ctrl-D ends the program", flush=True)
    sys.stdin.read()

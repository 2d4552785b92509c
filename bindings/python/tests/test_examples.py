"""The programs of examples/python."""

import subprocess
import sys
import unittest

import servers

import obvia

EXAMPLE = servers.ROOT / "examples/python"

PRINTED = """\
0x8000000e: there are no measurements yet
12.5 is above the limit
4 measurements from 1.0 to 12.5, mean 5.0
"""


class Statistics(unittest.TestCase):
    def test_the_example_prints_what_its_server_counts(self):
        servers.start(sys.executable, str(EXAMPLE / "server.py"))
        client = [sys.executable, str(EXAMPLE / "client.py")]
        done = subprocess.run(client, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stdout, PRINTED, done.stderr)
        # The first client's watcher is gone. The server notices this, and continues to serve.
        statistics = obvia.connect("statistics")
        statistics.record([20])
        self.assertEqual(statistics.summarize().count, 5)

"""Records measurements: `python3 client.py`, while the server runs."""

import array
import pathlib

import obvia

IDL = pathlib.Path(__file__).with_name("statistics.idl")


@obvia.implements("IWatcher", idl=IDL)
class Watcher:
    def exceeded(self, value):
        print(f"{value} is above the limit")


with obvia.connect("statistics", timeout=10) as statistics:
    try:
        statistics.summarize()
    except obvia.Error as error:
        print(f"{error.hresult:#010x}: {error.message}")
    statistics.watch(10, Watcher())
    statistics.record([1, 2.5])
    # An array whose elements have the parameter's type is copied as a whole. This includes arrays
    # of numpy.
    statistics.record(array.array("d", [4, 12.5]))
    summary = statistics.summarize()
    print(f"{summary.count} measurements from {summary.least} to {summary.greatest}, mean {summary.mean}")

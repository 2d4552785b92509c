"""Test vectors of `obvia::automation`: calls of IDispatch::Invoke as impacket writes them.

A line has a name and the stub data.

    oaut_vectors.py            prints the vectors, as in testing/vectors/automation/invoke.txt
    oaut_vectors.py FILE       compares a file with the vectors
"""

import importlib.metadata
import random
import sys

from impacket.dcerpc.v5.dcom import oaut
from impacket.dcerpc.v5.dtypes import NULL
from impacket.uuid import string_to_bin

TYPES = oaut.VARENUM
# ORPCTHIS without extensions comes before the parameters.
HEADERS = 32


def variant(vt, arm, value):
    made = oaut.VARIANT(None, False)
    made["clSize"] = 5
    made["rpcReserved"] = 0
    made["vt"] = vt
    made["_varUnion"]["tag"] = vt
    if vt == TYPES.VT_BSTR:
        made["_varUnion"][arm]["asData"] = value
    elif arm:
        made["_varUnion"][arm] = value
    return made


def invoke(member, flags, *arguments, named=()):
    params = oaut.DISPPARAMS(None, False)
    params["cArgs"] = len(arguments)
    for argument in arguments:
        params["rgvarg"].append(argument)
    params["cNamedArgs"] = len(named)
    if named:
        for one in named:
            params["rgdispidNamedArgs"].append(one)
    else:
        params["rgdispidNamedArgs"] = NULL
    if not arguments:
        params["rgvarg"] = NULL
    request = oaut.IDispatch_Invoke()
    request["dispIdMember"] = member
    request["riid"] = string_to_bin("00000000-0000-0000-0000-000000000000")
    request["lcid"] = 0
    request["dwFlags"] = flags
    request["pDispParams"] = params
    request["cVarRef"] = 0
    request["rgVarRefIdx"] = []
    request["rgVarRef"] = []
    request["ORPCthis"]["cid"] = bytes(16)
    request["ORPCthis"]["extensions"] = NULL
    return request.getData()[HEADERS:]


def vectors():
    yield "none", invoke(1, 2)
    yield "text", invoke(2, 1, variant(TYPES.VT_BSTR, "bstrVal", "text"))
    yield "numbers", invoke(
        3,
        1,
        variant(TYPES.VT_I4, "lVal", -5),
        variant(TYPES.VT_I2, "iVal", 7),
        variant(TYPES.VT_R8, "dblVal", 1.5),
        variant(TYPES.VT_BOOL, "boolVal", 0xFFFF),
        variant(TYPES.VT_UI1, "bVal", 9),
    )
    yield "named", invoke(0, 4, variant(TYPES.VT_I4, "lVal", 6), variant(TYPES.VT_BSTR, "bstrVal", "eggs"), named=[0xFFFFFFFD])


def main():
    # The referent IDs are random.
    random.seed(1)
    text = f"# impacket {importlib.metadata.version('impacket')}\n"
    text += "".join(f"{name} {data.hex()}\n" for name, data in vectors())
    if len(sys.argv) < 2:
        print(text, end="")
    elif open(sys.argv[1], encoding="ascii").read() != text:
        sys.exit(f"{sys.argv[1]} is not what impacket writes")


main()

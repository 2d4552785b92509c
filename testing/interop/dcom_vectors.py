"""Test vectors of `obvia::orpc`: formats and calls of DCOM as impacket and scapy write them.

A line has a name and its bytes.

    dcom_vectors.py            prints the vectors, as in testing/vectors/orpc/dcom.txt
    dcom_vectors.py FILE       compares a file with the vectors
"""

import importlib.metadata
import random
import sys
import uuid

from impacket.dcerpc.v5 import dcomrt
from impacket.dcerpc.v5.dtypes import NULL
from scapy.config import conf
from scapy.layers.msrpce.rpcclient import DCERPC_Client
from scapy.layers.msrpce import msdcom
from scapy.layers.msrpce.raw import ms_dcom

conf.verb = 0
CID = uuid.UUID("00112233-4455-6677-8899-aabbccddeeff")
CLSID = uuid.UUID("0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a10")
IID = uuid.UUID("0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a11")
IPID = uuid.UUID("01020304-0506-0708-090a-0b0c0d0e0f10")
OXID, OID, SET = 0x1122334455667788, 0x99AABBCCDDEEFF00, 0x0102030405060708


def words(*parts):
    """Returns tower or service numbers and texts as the words of a DUALSTRINGARRAY."""
    found = []
    for part in parts:
        found += [ord(letter) for letter in part] + [0] if isinstance(part, str) else [part]
    return found


STRINGS = words(7, "127.0.0.1[5000]", 0x1F, "elsewhere", 0)
SECURITIES = words(10, 0xFFFF, "", 9, 0xFFFF, "host/server", 0)


class Stop(Exception):
    """The request was recorded, and gets no answer."""


class Taker:
    """A replacement for a connection, which records the request."""

    def __init__(self):
        self.taken = None

    def connect(self):
        pass

    def bind(self, *_):
        pass

    def request(self, request, *_, **__):
        self.taken = request.getData()
        raise Stop


def take(client, method, *arguments):
    taker = Taker()
    try:
        getattr(client(taker), method)(*arguments)
    except Stop:
        return taker.taken
    raise AssertionError(method + " sent nothing")


def packed(array):
    return len(array).to_bytes(2, "little"), b"".join(word.to_bytes(2, "little") for word in array)


def impacket_formats():
    count, both = packed(STRINGS + SECURITIES)
    array = count + len(STRINGS).to_bytes(2, "little") + both
    for kind in ("STANDARD", "HANDLER", "EXTENDED"):
        reference = getattr(dcomrt, "OBJREF_" + kind)()
        reference["iid"] = IID.bytes_le
        std = reference["std"]
        std["flags"], std["cPublicRefs"], std["oxid"], std["oid"], std["ipid"] = 0, 5, OXID, OID, IPID.bytes_le
        if kind == "EXTENDED":
            # Impacket can read this form, but not write it. The tail is composed from impacket's
            # classes for the parts.
            element = dcomrt.DATAELEMENT()
            element["dataID"], element["cbSize"], element["cbRounded"] = CLSID.bytes_le, 13, 16
            element["Data"] = b"some context." + bytes(3)
            tail = bytes.fromhex("5659534e") + array + bytes.fromhex("010000005659534e") + element.getData()
            header = dcomrt.OBJREF_STANDARD()
            header["flags"], header["iid"], header["std"], header["saResAddr"] = 8, IID.bytes_le, std, tail
            yield "objref_extended", header.getData()
            continue
        if kind == "HANDLER":
            reference["clsid"] = CLSID.bytes_le
        reference["saResAddr"] = array
        yield "objref_" + kind.lower(), reference.getData()
    custom = dcomrt.OBJREF_CUSTOM()
    custom["iid"], custom["clsid"], custom["pObjectData"] = IID.bytes_le, CLSID.bytes_le, b"any data"
    custom["cbExtension"], custom["ObjectReferenceSize"] = 0, 16
    yield "objref_custom", custom.getData()


def impacket_requests():
    dcomrt.generate = lambda: CID.bytes_le
    exporter, activator = dcomrt.IObjectExporter, dcomrt.IRemoteSCMActivator
    yield "resolve_oxid", take(exporter, "ResolveOxid", OXID, (7, 8))
    yield "resolve_oxid2", take(exporter, "ResolveOxid2", OXID, (7,))
    yield "simple_ping", take(exporter, "SimplePing", SET)
    # Impacket's own client cannot change a set, because it sends the set's number in place of the
    # number of the change, which has only 16 bits.
    yield "complex_ping_new", take(exporter, "ComplexPing", 0, 0, (OID, OID + 1))
    ping = dcomrt.ComplexPing()
    ping["pSetId"], ping["SequenceNum"], ping["cAddToSet"], ping["cDelFromSet"] = SET, 3, 2, 1
    for name, oids in (("AddToSet", (OID, OID + 1)), ("DelFromSet", (OID + 2,))):
        for oid in oids:
            item = dcomrt.OID()
            item["Data"] = oid
            ping[name].append(item)
    yield "complex_ping", ping.getData()
    yield "server_alive2", take(exporter, "ServerAlive2")
    yield "create_instance", take(activator, "RemoteCreateInstance", CLSID.bytes_le, IID.bytes_le)
    yield "get_class_object", take(activator, "RemoteGetClassObject", CLSID.bytes_le, IID.bytes_le)
    yield "remote_activation", take(dcomrt.IActivation, "RemoteActivation", CLSID.bytes_le, IID.bytes_le)
    this = dcomrt.ORPCTHIS()
    this["cid"], this["extensions"], this["flags"] = CID.bytes_le, NULL, 0
    query = dcomrt.RemQueryInterface()
    query["ORPCthis"], query["ripid"], query["cRefs"], query["cIids"] = this, IPID.bytes_le, 5, 2
    for iid in (IID, CLSID):
        item = dcomrt.IID()
        item["Data"] = iid.bytes_le
        query["iids"].append(item)
    yield "rem_query_interface", query.getData()
    for name, request in (("rem_add_ref", dcomrt.RemAddRef()), ("rem_release", dcomrt.RemRelease())):
        request["ORPCthis"], request["cInterfaceRefs"] = this, 1
        item = dcomrt.REMINTERFACEREF()
        item["ipid"], item["cPublicRefs"], item["cPrivateRefs"] = IPID.bytes_le, 4, 1
        request["InterfaceRefs"].append(item)
        yield name, request.getData()


def impacket_responses():
    resolved = dcomrt.ResolveOxid2Response()
    array = resolved["ppdsaOxidBindings"]
    array["wNumEntries"], array["wSecurityOffset"] = len(STRINGS + SECURITIES), len(STRINGS)
    array["aStringArray"] = STRINGS + SECURITIES
    resolved["pipidRemUnknown"], resolved["pAuthnHint"], resolved["ErrorCode"] = IPID.bytes_le, 5, 0
    yield "resolve_oxid2_results", resolved.getData()
    pinged = dcomrt.ComplexPingResponse()
    pinged["pSetId"], pinged["pPingBackoffFactor"], pinged["ErrorCode"] = SET, 1, 0x777
    yield "complex_ping_results", pinged.getData()
    # Impacket declares a single result in place of the array of results, and the array's length as
    # padding.
    queried = dcomrt.RemQueryInterfaceResponse()
    that = dcomrt.ORPCTHAT()
    that["flags"], that["extensions"] = 0, NULL
    result = queried["ppQIResults"]
    result["hResult"] = 0
    std = result["std"]
    std["flags"], std["cPublicRefs"], std["oxid"], std["oid"], std["ipid"] = 0, 5, OXID, OID, IPID.bytes_le
    queried["ORPCthat"], queried["ErrorCode"] = that, 0
    yield "rem_query_interface_results", queried.getData()


def impacket_properties():
    """Returns a server's activation properties of a new object, each serialized by itself."""
    reply = dcomrt.ScmReplyInfoData()
    reply["pdwReserved"] = 0
    remote = reply["remoteReply"]
    remote["Oxid"], remote["ipidRemUnknown"], remote["authnHint"] = OXID, IPID.bytes_le, 1
    array = remote["pdsaOxidBindings"]
    array["wNumEntries"], array["wSecurityOffset"] = len(STRINGS + SECURITIES), len(STRINGS)
    array["aStringArray"] = STRINGS + SECURITIES
    yield "scm_reply_info", reply.getData() + reply.getDataReferents()
    props = dcomrt.PropsOutInfo()
    props["cIfs"] = 1
    iid = dcomrt.IID()
    iid["Data"] = IID.bytes_le
    props["piid"].append(iid)
    result = dcomrt.HRESULT()
    result["Data"] = 0
    props["phresults"].append(result)
    pointer = dcomrt.PMInterfacePointer()
    pointer["ulCntData"], pointer["abData"] = 5, [b"a", b" ", b"r", b"e", b"f"]
    props["ppIntfData"].append(pointer)
    yield "props_out_info", props.getData() + props.getDataReferents()


def scapy_requests():
    sent = []

    def taken(_, packet, **__):
        sent.append(bytes(packet))
        raise Stop

    DCERPC_Client.sr1_req = taken
    client = msdcom.DCOM_Client(cid=msdcom.GUID(msdcom._uid_to_bytes(CID)), verb=False)
    client.host = "server"
    client.auth_level = 5
    client.bind_or_alter = lambda *_, **__: None
    iids = [type("Interface", (), {"uuid": iid}) for iid in (IID, CLSID, IPID)]
    for name in ("RemoteCreateInstance", "RemoteGetClassObject"):
        try:
            getattr(client, name)(CLSID, iids)
        except Stop:
            yield "scapy_" + name, sent.pop()


def scapy_extents():
    def extent(uid, data):
        padded = data + bytes(-len(data) % 8)
        return ms_dcom.ORPC_EXTENT(
            id=ms_dcom.GUID(uid.bytes_le, ndr64=False), size=len(data), data=padded, ndr64=False)

    array = ms_dcom.ORPC_EXTENT_ARRAY(size=2, extent=[extent(CLSID, b"hello"), extent(IID, b"12345678")], ndr64=False)
    version = ms_dcom.COMVERSION(MajorVersion=5, MinorVersion=7, ndr64=False)
    this = ms_dcom.ORPCTHIS(version=version, cid=ms_dcom.GUID(CID.bytes_le, ndr64=False), extensions=array, ndr64=False)
    yield "scapy_this_with_extents", bytes(this)


def lines():
    random.seed(7)
    for package in ("impacket", "scapy"):
        yield f"# {package} {importlib.metadata.version(package)}"
    impacket = (impacket_formats, impacket_requests, impacket_responses, impacket_properties)
    for part in (*impacket, scapy_requests, scapy_extents):
        for name, value in part():
            yield f"{name} {value.hex()}"


def main():
    made = "".join(line + "\n" for line in lines())
    if len(sys.argv) == 1:
        print(made, end="")
        return
    with open(sys.argv[1], encoding="ascii") as file:
        if file.read() != made:
            sys.exit(sys.argv[1] + " is not what impacket and scapy write")


if __name__ == "__main__":
    main()

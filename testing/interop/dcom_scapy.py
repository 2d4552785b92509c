"""Calls by scapy's DCOM client to `interop-objects`, which listens on port 135 of the host.

    dcom_scapy.py HOST
"""

import sys
import uuid

from scapy.config import conf
from scapy.layers.dcerpc import (
    DceRpcOp,
    NDRIntField,
    NDRPacket,
    NDRSignedIntField,
    find_com_interface,
    register_com_interface,
)
from scapy.layers.msrpce.msdcom import DCOM_Client

conf.verb = 0
CLASS = uuid.UUID("5b0e6b3c-0d5e-4c5a-9f3e-6f1d0c7a2b01")


class Add_Request(NDRPacket):
    fields_desc = [NDRSignedIntField("number", 0)]


class Add_Response(NDRPacket):
    fields_desc = [NDRSignedIntField("sum", 0), NDRIntField("status", 0)]


class Name_Request(NDRPacket):
    fields_desc = []


class Name_Response(NDRPacket):
    fields_desc = []


register_com_interface(
    "ICounter", uuid.UUID("5b0e6b3c-0d5e-4c5a-9f3e-6f1d0c7a2b10"), {3: DceRpcOp(Add_Request, Add_Response)}
)
register_com_interface(
    "INamed", uuid.UUID("5b0e6b3c-0d5e-4c5a-9f3e-6f1d0c7a2b11"), {3: DceRpcOp(Name_Request, Name_Response)}
)


def add(counter, number):
    answer = counter.sr1_req(Add_Request(number=number), iface=find_com_interface("ICounter"))
    return answer.sum


def main(host):
    for method in ("RemoteCreateInstance", "RemoteGetClassObject"):
        client = DCOM_Client()
        client.connect(host)
        counter = getattr(client, method)(CLASS, [find_com_interface("ICounter")])
        before = add(counter, 5) - 5
        assert add(counter, 37) - before == 42, method
        # Name_Response declares no fields, so the test searches the response's bytes for the name.
        ipid = client.OID_table[counter.oid].ipids[0]
        client.AcquireInterface(ipid=ipid, iids=[find_com_interface("INamed")], cPublicRefs=1)
        assert len(client.OID_table[counter.oid].ipids) == 2, method
        named = counter.sr1_req(Name_Request(), iface=find_com_interface("INamed"))
        assert "a counter".encode("utf-16le") in bytes(named), method
        # Scapy releases only every other interface pointer.
        for _ in range(2):
            if counter.valid:
                counter.release()
        assert not counter.valid, method
        client.close()
        print("ok    ", method)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

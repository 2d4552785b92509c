"""Tokens, signatures and encryption of NTLM and SPNEGO, without a network.

Both sides of the example `tokens` run against scapy's, and its server against impacket's client.

    auth_tokens.py PATH_OF_THE_EXAMPLE_TOKENS
"""

import itertools
import subprocess
import sys

from Cryptodome.Cipher import ARC4
from impacket import ntlm
from scapy.layers.gssapi import GSS_C_FLAGS, GSS_S_COMPLETE, GSS_S_CONTINUE_NEEDED, GSSAPI_BLOB
from scapy.layers.ntlm import MD4le, NTLM_Header, NTLMSSP, NTLMSSP_MESSAGE_SIGNATURE
from scapy.layers.spnego import SPNEGOSSP

USER, PASSWORD = "user", "a secret"
SPNEGO, NTLM = 9, 10
CONNECT, INTEGRITY, PRIVACY = 2, 5, 6


class Failure(Exception):
    """An error that the example reports."""


class Tokens:
    """One side of a security context, in a process of the example."""

    def __init__(self, program, side, kind, level, password=PASSWORD):
        self.process = subprocess.Popen(
            [program, side, str(kind), str(level), USER, password],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(timeout=10)

    def ask(self, *words):
        line = " ".join((word.hex() or "-") if isinstance(word, bytes) else str(word) for word in words)
        print(line, file=self.process.stdin, flush=True)
        verdict, *answers = self.process.stdout.readline().split()
        if verdict == "error":
            raise Failure(" ".join(answers))
        return verdict, *(b"" if answer == "-" else bytes.fromhex(answer) for answer in answers)

    def step(self, token):
        verdict, answer = self.ask("step", token)
        return verdict == "done", answer

    def protect(self, pdu, start, end):
        return self.ask("protect", pdu, start, end)[1:]

    def unprotect(self, pdu, start, end, signature):
        return self.ask("unprotect", pdu, start, end, signature)[1]


class Scapy:
    """One side of a security context, by scapy."""

    def __init__(self, side, kind, level, password=PASSWORD):
        self.accepts = side == "accept"
        self.kind = kind
        # Integrity is set on every level, because without it scapy encrypts SPNEGO's list (MS-NLMP
        # 3.4.4.2).
        self.flags = GSS_C_FLAGS.GSS_C_INTEG_FLAG
        if level >= PRIVACY:
            self.flags |= GSS_C_FLAGS.GSS_C_CONF_FLAG
        if self.accepts:
            inner = NTLMSSP(IDENTITIES={USER: MD4le(password)})
        else:
            inner = NTLMSSP(UPN=USER + "@DOMAIN", PASSWORD=password)
        self.ssp = inner if kind == NTLM else SPNEGOSSP([inner])
        self.context = None

    def step(self, token):
        parse = NTLM_Header if self.kind == NTLM else GSSAPI_BLOB
        received = parse(token) if token else None
        if self.accepts:
            self.context, answer, status = self.ssp.GSS_Accept_sec_context(self.context, received)
        else:
            self.context, answer, status = self.ssp.GSS_Init_sec_context(
                self.context, received, target_name="host/server.example", req_flags=self.flags)
        if status not in (GSS_S_COMPLETE, GSS_S_CONTINUE_NEEDED):
            raise Failure(f"status {status:#x}")
        return status == GSS_S_COMPLETE, bytes(answer) if answer is not None else b""

    def messages(self, pdu, start, end):
        parts = [(pdu[:start], False), (pdu[start:end], True), (pdu[end:], False)]
        return [self.ssp.WRAP_MSG(conf_req_flag=sealed and start < end, sign=True, data=data) for data, sealed in parts]

    def protect(self, pdu, start, end):
        messages, signature = self.ssp.GSS_WrapEx(self.context, self.messages(pdu, start, end))
        return b"".join(message.data for message in messages), bytes(signature)

    def unprotect(self, pdu, start, end, signature):
        messages = self.ssp.GSS_UnwrapEx(
            self.context, self.messages(pdu, start, end), NTLMSSP_MESSAGE_SIGNATURE(signature))
        return b"".join(message.data for message in messages)


class Impacket:
    """A client that calls impacket's functions as impacket's own RPC client calls them."""

    def __init__(self):
        self.negotiate = ntlm.getNTLMSSPType1("", "", signingRequired=True)
        self.count = 0

    def step(self, token):
        if not token:
            return False, self.negotiate.getData()
        answer, key = ntlm.getNTLMSSPType3(self.negotiate, token, USER, PASSWORD, "DOMAIN")
        self.flags = answer["flags"]
        self.keys = {}
        for sender in ("Client", "Server"):
            stream = ARC4.new(ntlm.SEALKEY(self.flags, key, sender.encode() if sender == "Server" else sender))
            self.keys[sender] = (ntlm.SIGNKEY(self.flags, key, sender.encode() if sender == "Server" else sender), stream.encrypt)
        return True, answer.getData()

    def protect(self, pdu, start, end):
        signing, stream = self.keys["Client"]
        sealed, signature = pdu[start:end], None
        if start < end:
            sealed, signature = ntlm.SEAL(self.flags, signing, signing, pdu, sealed, self.count, stream)
        else:
            signature = ntlm.SIGN(self.flags, signing, pdu, self.count, stream)
        return pdu[:start] + sealed + pdu[end:], signature.getData()

    def unprotect(self, pdu, start, end, signature):
        signing, stream = self.keys["Server"]
        pdu = pdu[:start] + stream(pdu[start:end]) + pdu[end:]
        expected = ntlm.SIGN(self.flags, signing, pdu, self.count, stream).getData()
        self.count += 1
        if expected != signature:
            raise Failure("the signature is wrong")
        return pdu


def make(client, server):
    """Exchanges tokens until both sides are done."""
    token, client_done, server_done = b"", False, False
    for _ in range(4):
        if not client_done:
            client_done, token = client.step(token)
        if client_done and server_done:
            return
        if not server_done:
            server_done, token = server.step(token)
        if client_done and server_done:
            return
    raise Failure("the contexts are never made")


def check(client, server, level):
    """Makes a context, and passes messages in both directions."""
    make(client, server)
    if level == CONNECT:
        return
    for count in range(1, 4):
        for sender, receiver in ((client, server), (server, client)):
            pdu = bytes(range(24)) + bytes([count]) * 16 * count + b"\x0a\x06\0\0\1\0\0\0"
            end = len(pdu) - 8 if level == PRIVACY else 24
            protected, signature = sender.protect(pdu, 24, end)
            if (protected == pdu) != (level == INTEGRITY):
                raise Failure("encrypted what it should not, or the other way round")
            if receiver.unprotect(protected, 24, end, signature) != pdu:
                raise Failure("something else came out")


def refused(client, server):
    """Returns whether the context is refused."""
    try:
        make(client, server)
    except Failure as failure:
        return "could not be authenticated" in str(failure) or "status" in str(failure)
    return False


def main(program):
    failed = passed = 0

    def report(name, function):
        nonlocal failed, passed
        try:
            good = function() is not False
            why = ""
        except Exception as error:  # whatever a peer makes of it
            good, why = False, f": {type(error).__name__} {error}"
        print("ok    " if good else "FAILED", name, why)
        passed, failed = passed + good, failed + (not good)

    for kind, level in itertools.product((NTLM, SPNEGO), (CONNECT, INTEGRITY, PRIVACY)):
        what = f"{'NTLM' if kind == NTLM else 'SPNEGO'} at level {level}"
        with Tokens(program, "accept", kind, level) as server:
            report(f"scapy calls, {what}", lambda: check(Scapy("initiate", kind, level), server, level))
        with Tokens(program, "initiate", kind, level) as client:
            report(f"scapy answers, {what}", lambda: check(client, Scapy("accept", kind, level), level))
        if kind == NTLM:
            with Tokens(program, "accept", kind, level) as server:
                report(f"impacket calls, {what}", lambda: check(Impacket(), server, level))
        with Tokens(program, "accept", kind, level) as server:
            wrong = Scapy("initiate", kind, level, "another")
            report(f"scapy calls with a wrong password, {what}", lambda: refused(wrong, server))
        with Tokens(program, "initiate", kind, level, "another") as client:
            report(f"scapy answers a wrong password, {what}", lambda: refused(client, Scapy("accept", kind, level)))
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

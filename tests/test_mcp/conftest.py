"""Clients for the tests, and the proof that no server outlives its test."""

import ssl
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from patience import PATIENCE, eventually

from test_mcp.peers import children, is_running
from toolbench.core.background_loop import portal
from toolbench.mcp import MCPClient
from toolbench.mcp.connection.attempt import older_only_servers


@pytest.fixture(autouse=True)
def no_server_is_known():
    """What an earlier test saw of a server's age decides nothing."""
    older_only_servers.clear()


@pytest.fixture
def client():
    """A client whose servers are gone afterwards, also those that never connected."""
    before = children()
    with MCPClient(timeout=PATIENCE) as client:
        yield client
    eventually(lambda: not any(map(is_running, children() - before)))


@pytest.fixture(scope="module")
def shared():
    """A client for tests that only look: connect a server once per module."""
    with MCPClient(timeout=PATIENCE) as client:
        yield client


@pytest.fixture(scope="session", autouse=True)
def loop_ends():
    """The background loop ends with the tests."""
    yield
    portal.close()


@pytest.fixture
def tls(tmp_path):
    """The port of a TLS server with a certificate that it signed itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    day = timedelta(days=1)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - day)
        .not_valid_after(now + day)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    both = key.private_bytes(
        pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ) + certificate.public_bytes(pem)
    file = tmp_path / "both.pem"
    file.write_bytes(both)
    ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(file)
    code = (
        "import ssl,socket,sys\n"
        "c=ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)\n"
        f"c.load_cert_chain({str(file)!r})\n"
        "s=socket.create_server(('localhost',0));print(s.getsockname()[1],flush=True)\n"
        "while True:\n"
        " k,_=s.accept()\n"
        " try: c.wrap_socket(k,server_side=True).close()\n"
        " except OSError: k.close()\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    yield int(process.stdout.readline())
    process.kill()
    process.wait()
    process.stdout.close()

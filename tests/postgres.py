"""A PostgreSQL server of its own for the tests that share a database, where the machine has one installed."""

import os
import shutil
import socket
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path


def programs() -> Path | None:
    """The folder of initdb and pg_ctl."""
    found = shutil.which("pg_ctl")
    folders = [Path(found).parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((f for f in folders if (f / "initdb").exists() and (f / "pg_ctl").exists()), None)


@contextmanager
def serve():
    """A URL of an empty database, `{name}` left open for the database's name."""
    root, bin_ = Path(tempfile.mkdtemp(prefix="biasscope-pg-")), programs()
    user = "postgres" if os.geteuid() == 0 else None
    if user:
        shutil.chown(root, user)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    def call(*command: str) -> None:
        subprocess.run(command, check=True, user=user, cwd=root, capture_output=True, timeout=120)

    data = root / "data"
    options = f"-p {port} -k {root} -c listen_addresses=127.0.0.1 -c fsync=off"
    call(str(bin_ / "initdb"), "-D", str(data), "-U", "biasscope", "-A", "trust", "-E", "UTF8", "--no-sync")
    call(str(bin_ / "pg_ctl"), "-D", str(data), "-w", "-l", str(root / "log"), "-o", options, "start")
    try:
        yield f"postgresql://biasscope@127.0.0.1:{port}/{{name}}"
    finally:
        call(str(bin_ / "pg_ctl"), "-D", str(data), "-m", "immediate", "stop")
        shutil.rmtree(root, ignore_errors=True)

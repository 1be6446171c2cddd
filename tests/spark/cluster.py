"""A standalone cluster of one master and two workers on this machine."""

import os
import socket
import subprocess
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyspark

from rollstat.spark.start import java_environment

CLASSES = "org.apache.spark.deploy"


def free_port():
    """Return a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def daemon(log, environment, *arguments):
    """Run a part of the cluster within a ``with`` block."""
    command = [str(Path(pyspark.__file__).parent / "bin" / "spark-class"), *arguments]
    with open(log, "wb") as output:
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
    try:
        yield
    finally:
        process.terminate()
        process.wait()


@contextmanager
def standalone(folder):
    """Start the cluster with its files in a folder, and return the address of the master."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment |= {**java_environment(), "SPARK_DAEMON_MEMORY": "128m"}
    environment |= {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_NO_DAEMONIZE": "1"}
    host = ["--host", "127.0.0.1", "--webui-port", "0"]
    port = free_port()
    master = f"spark://127.0.0.1:{port}"
    with ExitStack() as stack:
        stack.enter_context(
            daemon(folder / "master.log", environment, f"{CLASSES}.master.Master", *host, "--port", str(port))
        )
        for number in range(2):
            work = folder / f"worker{number}"
            options = ["--cores", "1", "--memory", "1g", "--work-dir", str(work), *host, master]
            stack.enter_context(
                daemon(folder / f"{work.name}.log", environment, f"{CLASSES}.worker.Worker", *options)
            )
        yield master

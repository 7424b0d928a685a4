#!/usr/bin/env python3
"""A rig for tests of the lab: it misbehaves on demand, as the real one cannot be made to.

`DYNO_FAKE_RIG` says how `drive` ends: ok (default), hang, deaf (hangs and ignores SIGTERM), no-summary,
nothing, failed, interrupted, empty, or crash; `DYNO_FAKE_RIG_CHECK` what `check` finds: ok (default),
broken-before, broken-after, or silent. `DYNO_FAKE_RIG_SPEED` shortens its phases. `prepare` makes one
real table on the server; with `DYNO_FAKE_RIG_PREPARE=fail` it fails.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

import pymysql

HEADER = {
    "format": "dyno-record/1",
    "rig_version": "0.0.1",
    "t_epoch_us": 0,
    "workers": [],
    "server_version": "x",
    "connection": {},
    "transaction_types": ["t"],
    "statement_types": [],
    "histogram": {"unit": "ns", "significant_digits": 3, "highest": 3600000000000},
}
SUMMARY = {
    "t_us": 1000000,
    "measure_us": 1000000,
    "statements": [],
    "errors": [],
    "issued": {},
    "unfinished": 0,
    "client_cpu_us": 1,
    "rows": 0,
}
ERROR = {"kind": "server", "code": 1146, "sqlstate": "42S02", "message": "no such table", "statement": "s"}


def main(arguments):
    command, options = arguments[0], dict(zip(arguments[1::2], arguments[2::2], strict=False))
    if command == "--version":
        print("dyno-rig 0.0.1")
    elif command == "workloads":
        options = [{"name": name, "aliases": [], "default": 1} for name in ("tables", "table_size")]
        names = ("oltp_fake", "tpcc")
        print(json.dumps([{"name": name, "version": 1, "options": options} for name in names]))
    elif command == "prepare":
        prepare(read_spec(options))
    elif command == "check":
        check(Path(options["--spec"]).name)
    elif command == "cleanup":
        connect(read_spec(options)).cursor().execute("DROP DATABASE IF EXISTS sbtest")
    else:
        drive(read_spec(options), Path(options["--record"]))


def read_spec(options):
    return json.loads(Path(options["--spec"]).read_text())


def connect(spec):
    target = spec["target"]
    if target["socket"]:
        return pymysql.connect(unix_socket=target["socket"], user=target["user"])
    password = os.environ.get(target["password_env"] or "", "")
    return pymysql.connect(host=target["host"], port=target["port"], user=target["user"], password=password)


def prepare(spec):
    if os.environ.get("DYNO_FAKE_RIG_PREPARE") == "fail":
        sys.exit("error: the data does not want to be built\nhint: ask it kindly")
    cursor = connect(spec).cursor()
    cursor.execute("CREATE DATABASE IF NOT EXISTS sbtest")
    cursor.execute("CREATE TABLE sbtest.sbtest1 (id INT PRIMARY KEY)")
    print(json.dumps({"rows": 0, "seconds": 0.1, "method": "fake"}))


def check(spec):
    how = os.environ.get("DYNO_FAKE_RIG_CHECK", "ok")
    if how == "silent":
        sys.exit("error: the tables are not there\nhint: build them")
    holds = how == "ok" or how.removeprefix("broken-") not in spec
    condition = {"name": "c", "text": "must hold", "holds": holds, "seconds": 0.1}
    rows = {"columns": ["id"], "rows": [] if holds else [["1"]], "more": False}
    found = {"workload": "tpcc", "consistent": holds, "conditions": [condition | rows]}
    print(json.dumps({**found, "total_seconds": 0.1}))
    if not holds:
        sys.exit("error: the data is not consistent")


def drive(spec, record):
    how = os.environ.get("DYNO_FAKE_RIG", "ok")
    if how == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    seconds = float(os.environ.get("DYNO_FAKE_RIG_SPEED", "0.1"))
    with connect(spec).cursor() as cursor:
        cursor.execute("SELECT COUNT(*) FROM sbtest.sbtest1")
    if how == "nothing":
        return
    with record.open("w", buffering=1) as stream:
        emit(stream, "header", **HEADER, spec=spec)
        emit(stream, "phase", t_us=0, phase="measure")
        if how in ("hang", "deaf"):
            while True:
                time.sleep(0.1)
        time.sleep(seconds)
        if how == "no-summary":
            return
        if how == "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        done = 0 if how == "empty" else 100
        outcome = (
            {"outcome": how, "error": ERROR}
            if how in ("failed", "interrupted")
            else {"outcome": "ok", "error": None}
        )
        transactions = [{"type": "t", "ok": done, "retries": 0, "latency": None}]
        emit(stream, "summary", **outcome, **SUMMARY, transactions=transactions)
    if how == "failed":
        sys.exit("error: 1146 (42S02): no such table\nhint: build the data first")


def emit(stream, record, **fields):
    stream.write(json.dumps({"record": record, **fields}) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])

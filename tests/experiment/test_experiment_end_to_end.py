"""The whole line on real engines with the real rig: plan in, records and report out."""

from __future__ import annotations

import json
import os
import signal

import pyarrow.parquet as pq
import pytest

from dyno.engines import Server, Settings, find, install
from dyno.hosts.placement import allowed_cpus

pytestmark = pytest.mark.engine

PLAN = """
[plan]
name = "end-to-end"
[[engines]]
engine = "mariadb@10.11"
[[engines]]
engine = "mysql@9.7"
[settings]
buffer_pool = "64MiB"
redo = "16MiB"
[[workloads]]
name = "oltp_read_write"
options = { tables = 2, table_size = 1000 }
[load]
sessions = [2]
[phases]
warmup = "200ms"
measure = "MEASURE"
[trials]
count = 2
"""
OFFLINE = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")


def plan(measure="1s"):
    return PLAN.replace("MEASURE", measure)


def read(path):
    return json.loads(path.read_text())


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_small_plan_from_file_to_report(real_lab):
    done = real_lab.call("run", real_lab.plan(plan()))
    assert real_lab.well(done), done.stderr
    folder = real_lab.run_folder()
    assert f"report: {folder.relative_to(real_lab.root)}/report" in done.stdout

    manifest = read(folder / "manifest.json")
    assert [engine["id"] for engine in manifest["engines"]] == ["mariadb-10.11", "mysql-9.7"]
    assert real_lab.statuses() == ["ok"] * 4
    assert [trial["trial"] for trial in real_lab.trials()] == [each["trial"] for each in manifest["order"]]
    versions = {engine["id"]: engine["version"] for engine in manifest["engines"]}
    for trial in real_lab.trials():
        engine = trial["cell"].partition("~")[0]
        files = folder / "trials" / trial["trial"]
        variables = read(files / "variables.json")
        assert trial["server_version"] == variables["version"]
        assert trial["server_version"].startswith(versions[engine])
        assert int(variables["innodb_buffer_pool_size"]) == 64 * 2**20
        assert trial["phase_s"].keys() == {"restore", "start", "drive", "stop"}
        stream = lines(files / "record.ndjson")
        assert (stream[0]["record"], stream[-1]["record"]) == ("header", "summary")
        assert stream[-1]["outcome"] == "ok"
        assert [worker["cpu"] for worker in stream[0]["workers"]] == manifest["placement"]["rig_cpus"]
        assert pq.read_table(files / "series.parquet").num_rows > 0
    for engine in versions:
        kept = read(folder / "settings" / f"{engine}--default.json")
        assert {check["verdict"] for check in kept["checks"]} == {"equal"}
    analysis = read(folder / "analysis.json")
    good = [trial["status"] == "ok" for trial in real_lab.trials()]
    assert analysis["trials_ok"] == sum(good)
    assert all(t["throughput_per_s"] > 0 for cell in analysis["cells"] for t in cell["trials"])


@pytest.mark.skipif(len(allowed_cpus()) < 2, reason="one CPU: nothing can be pinned apart")
def test_the_server_is_pinned_away_from_the_rig(real_lab):
    process = real_lab.popen("run", real_lab.plan(plan("4s")))
    pid = real_lab.server_of("0001")
    placement = read(real_lab.run_folder() / "manifest.json")["placement"]
    assert sorted(os.sched_getaffinity(pid)) == placement["server_cpus"]
    assert not set(placement["server_cpus"]) & set(placement["rig_cpus"])
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)


def test_a_server_killed_under_real_load_fails_its_trial_only(real_lab):
    process = real_lab.popen("run", real_lab.plan(plan("3s")))
    os.kill(real_lab.server_of("0001"), signal.SIGKILL)
    _, err = process.communicate(timeout=240)
    assert process.returncode == 4, err
    first = real_lab.trials()[0]
    assert first["status"] == "failed"
    assert first["reason"]
    assert first["engine_log_tail"]
    assert real_lab.statuses() == ["failed"] + ["ok"] * 3
    states = real_lab.states()
    assert states[first["trial"]] == "failed"
    assert list(states.values()).count("failed") == 1
    analysis = read(real_lab.run_folder() / "analysis.json")
    assert analysis["trials_ok"] == list(states.values()).count("ok")
    assert "Traceback" not in err


def test_a_lab_killed_under_real_load_resumes(real_lab):
    process = real_lab.popen("run", real_lab.plan(plan("3s")))
    pid = real_lab.server_of("0002")
    process.kill()
    process.communicate()
    before = real_lab.trials()
    assert real_lab.statuses() == ["ok"]
    done = real_lab.call("run", "--resume", "latest")
    assert real_lab.well(done), done.stderr
    assert not real_lab.alive(pid)
    after = real_lab.trials()
    assert after[0] == before[0]
    assert real_lab.statuses() == ["ok"] * 4


def test_an_engine_that_cannot_be_had_is_left_out_and_named(real_lab):
    text = plan().replace('engine = "mysql@9.7"', 'engine = "mariadb@10.5"')
    done = real_lab.call("run", real_lab.plan(text), **OFFLINE)
    assert real_lab.well(done), done.stderr
    assert "mariadb@10.5 cannot be had, the run goes on without it" in done.stderr
    manifest = read(real_lab.run_folder() / "manifest.json")
    assert [engine["id"] for engine in manifest["engines"]] == ["mariadb-10.11"]
    (gone,) = manifest["engines_missing"]
    assert gone["id"] == "mariadb-10.5"
    assert gone["reason"]
    assert "mariadb@10.5" in done.stdout


def test_no_engine_at_all_is_an_error(real_lab):
    text = plan().replace('[[engines]]\nengine = "mysql@9.7"\n', "").replace("10.11", "10.5")
    done = real_lab.call("run", real_lab.plan(text), **OFFLINE)
    assert done.returncode == 1
    assert "none of the plan's engines can be had" in done.stderr
    assert not real_lab.runs.exists()


def test_bench_is_the_first_command_that_works(real_lab):
    done = real_lab.call(
        "bench", "oltp_point_select", "--engine", "mariadb@10.11", "--seconds", 1, "--warmup", "100ms"
    )
    assert real_lab.well(done), done.stderr
    assert real_lab.statuses() == ["ok"]
    assert "report: runs/" in done.stdout
    again = real_lab.call("run", real_lab.run_folder() / "plan.toml", "--dry-run", "--json")
    assert json.loads(again.stdout)["resolved"]["workloads"][0]["name"] == "oltp_point_select"


def test_bench_as_json_is_json_alone(real_lab):
    options = ("-o", "table-size=500", "--tables", 1, "--set", "redo=16MiB", "--sessions", "1,2")
    done = real_lab.call(
        "bench",
        "oltp_read_only",
        "--engine",
        "mariadb@10.11",
        "--seconds",
        1,
        "--warmup",
        "100ms",
        *options,
        "--json",
    )
    assert real_lab.well(done), done.stderr
    result = json.loads(done.stdout)
    assert result["trials"]["ok"] + result["trials"]["invalid"] == 2
    assert result["analysis"]["cells"][0]["trials"][0]["throughput_per_s"] > 0


@pytest.fixture
def foreign(tmp_path):
    """A server that somebody else runs, with an account over TCP."""
    installed = install(find("mariadb@10.11"))
    with Server(installed, tmp_path / "foreign", Settings(buffer_pool="64MiB", redo="16MiB")) as server:
        with server.connect() as connection, connection.cursor() as cursor:
            cursor.execute("CREATE USER app@'127.0.0.1' IDENTIFIED BY 'geheim'")
            cursor.execute("GRANT ALL ON *.* TO app@'127.0.0.1'")
        yield server


def tables(server):
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SELECT table_name FROM information_schema.tables WHERE table_schema = 'bench_db'")
        return sorted(name for (name,) in cursor.fetchall())


def test_bench_on_a_target_builds_what_is_missing_and_drops_it_again(real_lab, foreign):
    url = f"mysql://app@127.0.0.1:{foreign.port}/bench_db"
    arguments = ("bench", "oltp_read_write", "--target", url, "--password-env", "DB_PASSWORD", "--seconds", 1)
    small = ("--warmup", "100ms", "--tables", 2, "--table-size", 500)
    done = real_lab.call(*arguments, *small, DB_PASSWORD="geheim")
    assert real_lab.well(done), done.stderr
    assert "lacks sbtest1, sbtest2: building the data" in done.stderr
    assert "dropped again" in done.stderr
    assert tables(foreign) == []
    (trial,) = real_lab.trials()
    assert real_lab.statuses() == ["ok"]
    assert any("not restored" in mark["text"] for mark in trial["marks"])
    for path in real_lab.run_folder().rglob("*"):
        assert path.is_dir() or b"geheim" not in path.read_bytes(), path

    kept = real_lab.call(*arguments, *small, "--keep-data", DB_PASSWORD="geheim")
    assert real_lab.well(kept), kept.stderr
    assert tables(foreign) == ["sbtest1", "sbtest2"]
    used = real_lab.call(*arguments, *small, DB_PASSWORD="geheim")
    assert "using the 2 tables" in used.stderr
    assert tables(foreign) == ["sbtest1", "sbtest2"]
    more = real_lab.call(*arguments, "--tables", 3, DB_PASSWORD="geheim")
    assert more.returncode == 4
    assert "sbtest3 missing" in more.stderr


def test_a_target_that_refuses_is_an_error_without_the_password(real_lab, foreign):
    url = f"mysql://app@127.0.0.1:{foreign.port}/bench_db"
    done = real_lab.call(
        "bench", "oltp_read_write", "--target", url, "--password-env", "DB_PASSWORD", DB_PASSWORD="falsch"
    )
    assert done.returncode == 1
    assert "does not let us in" in done.stderr
    assert "falsch" not in done.stderr
    unset = real_lab.call("bench", "oltp_read_write", "--target", url, "--password-env", "DB_NO_SUCH")
    assert "DB_NO_SUCH is not set" in unset.stderr


def test_a_setting_that_the_plan_names_is_compared_on_a_target_too(real_lab, foreign):
    url = f"mysql://app@127.0.0.1:{foreign.port}/bench_db"
    done = real_lab.call(
        *("bench", "oltp_read_write", "--target", url, "--password-env", "DB_PASSWORD", "--seconds", 1),
        *("--table-size", 500, "--set", "buffer_pool=1G"),
        DB_PASSWORD="geheim",
    )
    assert done.returncode == 4
    (trial,) = real_lab.trials()
    assert trial["status"] == "failed"
    assert "innodb_buffer_pool_size" in trial["reason"]

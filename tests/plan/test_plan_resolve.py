import pytest
from hypothesis import given
from hypothesis import strategies as st

from dyno.experiment.spec import load_spec
from dyno.plan import names
from dyno.plan.complain import PlanError
from dyno.plan.load import parse
from dyno.plan.resolve import Found, WorkloadKind, resolve
from dyno.plan.resolved import (
    MissingEngine,
    ResolvedCell,
    ResolvedEngine,
    ResolvedPlacement,
    ResolvedPlan,
    sha256_of,
)
from dyno.plan.schedule import schedule

TEXT = """
[plan]
name = "p"
seed = 7
[[engines]]
engine = "mariadb@10.11"
[[engines]]
engine = "mysql@9.7"
[[workloads]]
name = "oltp_read_write"
options = { tables = 2 }
[[tiers]]
name = "small"
[[tiers]]
name = "big"
buffer_pool = "1G"
[load]
sessions = [1, 16]
[trials]
count = 4
"""
PLACEMENT = ResolvedPlacement(server_cpus=[0], rig_cpus=[1], method="taskset", text="…")
KINDS = [
    WorkloadKind(
        "oltp_read_write", 3, {"tables": 1, "table_size": 10000, "free": None}, {"oltp_tables": "tables"}
    )
]


def engine(engine_id, request):
    return ResolvedEngine(
        id=engine_id,
        label=request,
        request=request,
        kind="installed",
        family="mariadb",
        version="1",
        server_version=None,
        source="s",
        content_sha256="c",
    )


ENGINES = [engine("mariadb-10.11", "mariadb@10.11"), engine("mysql-9.7", "mysql@9.7")]


def resolved(text=TEXT, engines=ENGINES, missing=()):
    found = Found(list(engines), list(missing), PLACEMENT, KINDS)
    return resolve(parse(text, "p"), text, found)


def test_every_cell_once_and_ids_as_documented():
    made = resolved()
    assert len(made.cells) == 2 * 2 * 1 * 2
    assert made.cells[0].id == "mariadb-10.11~small~oltp_read_write~s1"
    assert made.order[0].trial.startswith("0001-")
    assert made.order[-1].trial == f"0032-{made.order[-1].cell}-b4"
    assert made.plan_sha256 == sha256_of(TEXT)


def test_defaults_of_rig_and_settings_are_explicit():
    made = resolved()
    assert made.workloads[0].options == {"tables": 2, "table_size": 10000}
    assert made.workloads[0].version == 3
    big = made.settings_set("big")
    assert big.requested["buffer_pool"] == 2**30
    assert big.requested["durability"] == "full"
    assert big.asked == ["buffer_pool"]


def test_an_option_may_be_given_by_its_other_name_but_not_by_both():
    assert resolved(TEXT.replace("{ tables", "{ oltp_tables")).workloads[0].options["tables"] == 2
    with pytest.raises(PlanError, match="tables is named twice"):
        resolved(TEXT.replace("{ tables", "{ oltp_tables = 3, tables"))


def test_a_resolved_plan_survives_its_own_json():
    made = resolved()
    assert ResolvedPlan.model_validate_json(made.model_dump_json()) == made


def test_blocks_are_complete_and_shuffled_by_the_seed():
    made = resolved()
    cells = {cell.id for cell in made.cells}
    blocks = [[each.cell for each in made.order if each.block == block] for block in range(1, 5)]
    assert all(len(block) == len(cells) and set(block) == cells for block in blocks)
    assert len({tuple(block) for block in blocks}) > 1
    assert made.order == resolved().order
    assert made.order != resolved(TEXT.replace("seed = 7", "seed = 8")).order


def test_order_as_written():
    made = resolved(TEXT + 'order = "as-written"')
    assert [each.cell for each in made.order] == [cell.id for cell in made.cells] * 4


@given(cells=st.integers(1, 12), blocks=st.integers(1, 6), seed=st.integers(0, 2**63 - 1))
def test_any_schedule_visits_every_cell_once_a_block_with_unique_ids(cells, blocks, seed):
    made = [
        ResolvedCell(id=f"e~s~w~s{i}", engine="e", settings="s", workload="w", load=f"s{i}")
        for i in range(cells)
    ]
    order = schedule(made, blocks, seed, shuffled=True)
    assert len({each.trial for each in order}) == cells * blocks
    assert [each.trial[:4] for each in order] == [f"{i:04d}" for i in range(1, cells * blocks + 1)]
    for block in range(1, blocks + 1):
        assert sorted(each.cell for each in order if each.block == block) == sorted(cell.id for cell in made)


@pytest.mark.parametrize(
    ("old", "new", "said", "hint"),
    [
        (
            'name = "oltp_read_write"',
            'name = "oltp_readwrite"',
            'workloads[0].name = "oltp_readwrite"',
            "'oltp_read_write'",
        ),
        ("{ tables = 2 }", "{ tabels = 2 }", "workloads[0].options.tabels", "'tables'"),
        ("[load]", '[report]\nbaseline = "mysql@9.6"\n[load]', 'report.baseline = "mysql@9.6"', "mysql-9.7"),
        ("[load]", '[[workloads]]\nname = "oltp_read_write"\n[load]', "workloads[1]", "id ="),
    ],
)
def test_what_does_not_exist_is_named(old, new, said, hint):
    with pytest.raises(PlanError) as caught:
        resolved(TEXT.replace(old, new, 1))
    assert said in caught.value.message
    assert hint in caught.value.hint


def test_the_baseline_may_be_named_in_any_way_and_falls_back_when_it_is_missing():
    named = TEXT + '[report]\nbaseline = "mysql@9.7"'
    assert resolved(named).baseline == "mysql-9.7"
    gone = MissingEngine(id="mysql-9.7", label="mysql@9.7", reason="r", hint=None)
    assert resolved(named, engines=ENGINES[:1], missing=[gone]).baseline == "mariadb-10.11"
    assert resolved().baseline == "mariadb-10.11"


@given(st.text(min_size=1))
def test_a_slug_is_a_folder_name_or_an_error(text):
    try:
        made = names.slug(text)
    except ValueError:
        return
    assert names.SLUG.fullmatch(made)
    assert "~" not in made
    assert names.slug(made) == made


def test_a_connection_is_resolved_to_the_words_of_the_rig(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = """
    [plan]
    name = "p"
    [[engines]]
    target = "mysql://db1/sbtest"
    [[workloads]]
    name = "oltp_read_write"
    [load]
    sessions = [1]
    [connection]
    tls = "verify-identity"
    tls_ca = "ca.pem"
    io_timeout = "never"
    connect_timeout = "500ms"
    isolation = "read-committed"
    init = ["SET @a = 1"]
    targets = ["db1", "db2:3307", "[::1]:3308", "/run/s.sock"]
    """
    made = resolved(text, [engine("db1-3306", "mysql://db1/sbtest")]).connection
    assert made.tls_ca == str(tmp_path / "ca.pem")
    assert (made.io_timeout_s, made.connect_timeout_s) == (None, 0.5)
    assert made.targets == [
        {"socket": None, "host": "db1", "port": None},
        {"socket": None, "host": "db2", "port": 3307},
        {"socket": None, "host": "::1", "port": 3308},
        {"socket": "/run/s.sock", "host": None, "port": None},
    ]


def test_an_older_resolved_plan_connects_plainly():
    old = resolved().model_dump(exclude={"connection"})
    assert ResolvedPlan.model_validate(old).connection.tls == "off"


def test_every_load_reaches_the_rig_as_the_format_has_it():
    text = TEXT.replace(
        "sessions = [1, 16]",
        """
sessions = [16]
rate_per_s = [0.5, 2000]
connections = 32
[[load.schedules]]
name = "ramp"
kind = "closed"
stages = [{ duration = "4s", target = 512 }, { duration = "0s", target = 64 }]
[[load.schedules]]
name = "spike"
kind = "open"
start = 100
warmup_stages = [{ duration = "1s", target = 500 }]
stages = [{ duration = "2s", target = 5000 }]
""",
    )
    plan = resolved(text)
    opened = {"sessions": 32, "arrivals": "poisson", "backlog_max": 100_000}
    assert {load.id: load_spec(load) for load in plan.loads} == {
        "s16": {"closed": {"sessions": 16}},
        "r0.5": {"open": {"rate_per_s": 0.5, **opened}},
        "r2000": {"open": {"rate_per_s": 2000, **opened}},
        "ramp": {
            "closed": {
                "start": 512,
                "stages": [{"duration_s": 4, "target": 512}, {"duration_s": 0, "target": 64}],
            }
        },
        "spike": {
            "open": {
                "start": 100,
                "warmup_stages": [{"duration_s": 1, "target": 500}],
                "stages": [{"duration_s": 2, "target": 5000}],
                **opened,
            }
        },
    }
    assert [load.sessions_max for load in plan.loads] == [16, 32, 32, 512, 32]
    assert ResolvedPlan.model_validate_json(plan.model_dump_json()) == plan


@given(st.floats(min_value=0.001, max_value=1e8))
def test_the_id_of_a_rate_is_a_folder_name_that_tells_it(rate):
    made = names.rate_id(rate)
    assert made == names.slug(made)
    assert float(made[1:]) == pytest.approx(rate, abs=0.0005)

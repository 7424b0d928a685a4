from pathlib import Path

import pytest

from dyno.plan.complain import PlanError
from dyno.plan.early_end import resolve_stopping
from dyno.plan.load import accepted, parse, read, settings_sets

LEAST = """
[plan]
name = "Tiny Plan"
[[engines]]
engine = "mariadb@10.11"
[[workloads]]
name = "oltp_point_select"
[load]
sessions = [1]
"""


def error(text):
    with pytest.raises(PlanError) as caught:
        parse(text, "p.toml")
    return caught.value


def test_the_least_plan_has_every_default():
    plan = parse(LEAST, "p.toml")
    assert plan.plan.name == "tiny-plan"
    assert plan.plan.seed == 1
    assert plan.trials.count == 3
    assert plan.phases.measure == 5.0
    assert plan.report.relevant_difference == 0.05
    assert [name for name, _ in settings_sets(plan)] == ["default"]


def test_an_unknown_key_names_itself_and_its_neighbours():
    problem = error(LEAST.replace("sessions", "sesions"))
    assert "load.sesions is not a key that Dyno knows: did you mean 'sessions'?" in problem.message
    assert problem.hint is not None
    assert problem.hint.startswith("load takes: sessions, rate_per_s, schedules")


def test_keys_inside_lists_are_counted():
    problem = error(LEAST.replace('name = "oltp_point_select"', 'name = "x"\nstatment_mode = "text"'))
    assert "workloads[0].statment_mode" in problem.message
    assert "did you mean 'statement_mode'?" in problem.message


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("[phases]\nwarmup = 5", "phases.warmup = 5: a duration is a number with a unit"),
        ('[phases]\nmeasure = "10ms"', 'phases.measure = "10ms": the measured phase takes at least 1s'),
        ("[trials]\ncount = 0", "trials.count = 0"),
        ('[trials]\norder = "random"', 'trials.order = "random"'),
        ('[report]\nrelevant_difference = "5"', 'report.relevant_difference = "5": a share'),
        ('[connection]\ntls = "maybe"', 'connection.tls = "maybe"'),
        ('[connection]\ntls = "verify-ca"', "tls = 'verify-ca' needs tls_ca"),
        ('[connection]\ntls_ca = "ca.pem"', "tls_ca is looked at by verify-ca and verify-identity"),
        (
            '[connection]\ntls = "required"',
            'connection.tls = "required", but mariadb@10.11 will run without TLS',
        ),
        ("[connection]\nio_timeout = 5", "connection.io_timeout"),
        ('[connection]\ninit = [" "]', "connection.init[0]"),
        ('[connection]\ntargets = ["a:b"]', "'a:b' is no address"),
        ('[connection]\ntargets = ["a"]', "connection.targets are the servers of one engine"),
        ('[placement]\nserver_cpus = "3-1"', 'placement.server_cpus = "3-1"'),
        ('[settings]\nbuffer_pool = "lots"', "settings.buffer_pool"),
        (
            '[settings]\nbufferpool = "1G"',
            "settings.bufferpool is not a key that Dyno knows: did you mean 'buffer_pool'?",
        ),
        ('[[tiers]]\nname = "a"\nredoo = "1G"', "tiers[0].redoo is not a key"),
        ('[[tiers]]\nbuffer_pool = "1G"', "tiers[0].name is missing"),
        ('[[tiers]]\nname = "A"\n[[tiers]]\nname = "a"', "tiers[1].name = 'a': another tier has this name"),
        ('[settings]\naccept = "x"', "settings.accept = 'x'"),
        ('[[engines]]\nengine = "a"\ntarget = "mysql://h"', "either `engine"),
        ('[[engines]]\ntarget = "mysql://u:geheim@h/d"', "a password does not belong here"),
        ('[[engines]]\ntarget = "http://h"', "a target is mysql://"),
    ],
)
def test_wrong_values_are_named_with_key_value_and_reason(change, said):
    assert said in error(LEAST + change).message


def test_a_password_in_a_target_is_not_repeated_in_the_error():
    assert "geheim" not in error(LEAST + '[[engines]]\ntarget = "mysql://u:geheim@h/d"').message


def test_a_load_level_twice():
    assert "named twice" in error(LEAST.replace("[1]", "[4, 4]")).message


def test_tiers_lie_on_top_of_the_common_settings():
    plan = parse(
        LEAST + '[settings]\nredo = "64MiB"\naccept = ["a"]\n[[tiers]]\nname = "2G"\nbuffer_pool = "2G"\n'
        '[[tiers]]\nname = "12G"\nbuffer_pool = "12G"\nredo = "1G"',
        "p",
    )
    sets = dict(settings_sets(plan))
    assert list(sets) == ["2g", "12g"]
    assert sets["2g"].buffer_pool == 2 * 2**30
    assert sets["2g"].redo == 64 * 2**20
    assert sets["12g"].redo == 2**30
    assert accepted(plan) == ["a"]


def test_not_toml():
    assert "is not TOML" in error("[plan\n").message


def test_a_missing_file_lists_its_neighbours(tmp_path):
    (tmp_path / "other.toml").write_text(LEAST)
    with pytest.raises(PlanError) as caught:
        read(tmp_path / "none.toml")
    assert "other.toml" in caught.value.hint


def test_the_quickstart_plan_is_valid():
    plan, _ = read(Path(__file__).parents[2] / "plans" / "quickstart.toml")
    assert plan.load.sessions == [1, 4, 16]
    assert [entry.engine for entry in plan.engines] == ["mariadb@10.11", "mariadb@11.8", "mysql@9.7"]


def test_tls_of_an_engine_that_dyno_runs_is_offered_by_every_tier():
    tls = '[connection]\ntls = "required"\n'
    assert parse(LEAST + tls + "[settings]\ntls = true", "p.toml").connection.tls == "required"
    tiers = '[[tiers]]\nname = "open"\n[[tiers]]\nname = "closed"\ntls = true\n'
    problem = error(LEAST + tls + tiers)
    assert "(tiers: open)" in problem.message
    assert problem.hint == "tls = true in [settings]"


OPEN = """
rate_per_s = [500, 2000.5]
arrivals = "constant"
connections = 32
backlog_max = 10
[[load.schedules]]
name = "Ramp up"
kind = "closed"
start = 1
stages = [{ duration = "4s", target = 512 }, { duration = "0s", target = 64 }]
[[load.schedules]]
name = "spike"
kind = "open"
warmup_stages = [{ duration = "1s", target = 100 }]
stages = [{ duration = "500ms", target = 5000 }]
"""


def test_every_kind_of_load_in_one_plan():
    load = parse(LEAST + OPEN, "p.toml").load
    assert load.ids == ["s1", "r500", "r2000.5", "ramp-up", "spike"]
    assert (load.arrivals, load.connections, load.backlog_max) == ("constant", 32, 10)
    ramp, spike = load.schedules
    assert [(stage.duration, stage.target) for stage in ramp.stages] == [(4.0, 512), (0.0, 64)]
    assert ramp.levels == [1, 512, 64]
    assert spike.levels == [100, 100, 5000]


def test_an_open_loop_alone():
    plan = parse(LEAST.replace("sessions = [1]", "rate_per_s = [100]"), "p.toml")
    assert plan.load.ids == ["r100"]
    assert plan.load.arrivals == "poisson"


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("sessions = [1]", "", "name sessions = [1, 16], rate_per_s = [500, 2000], or [[load.schedules]]"),
        ("sessions = [1]", "sessions = [4, 4]", "a load level is named twice: s4"),
        ("sessions = [1]", "rate_per_s = [0]", "load.rate_per_s[0] = 0"),
        ("sessions = [1]", "rate_per_s = [5, 5.0001]", "named twice: r5"),
        ("sessions = [1]", "sessions = [1]\nconnections = 4", "connections: only an open loop has it"),
        ("sessions = [1]", 'rate_per_s = [9]\narrivals = "bursty"', "load.arrivals"),
        ('name = "spike"', 'name = "ramp-up"', "named twice: ramp-up"),
        ('name = "spike"', 'name = "s1"', "named twice: s1"),
        ('kind = "open"', 'kind = "half"', "load.schedules[1].kind"),
        ("target = 512", "target = 1.5", "1.5 sessions: a whole number up to 100000"),
        ("target = 5000", "target = 0", "there would be nothing to measure"),
        ('stages = [{ duration = "500ms", target = 5000 }]', "stages = []", "load.schedules[1].stages"),
        ('"4s"', '"6s"', "load.schedules[0].stages take 6 s, phases.measure is 5 s"),
        (
            '"1s", target = 100',
            '"3s", target = 100',
            "load.schedules[1].warmup_stages take 3 s, phases.warmup",
        ),
    ],
)
def test_wrong_loads_name_the_key(before, after, said):
    text = LEAST + OPEN
    if "sessions" in before:
        text = LEAST
    assert before in text
    problem = error(text.replace(before, after))
    assert said in problem.message
    assert problem.hint


STOPPING = '[phases]\nmeasure = "{measure}"\nprecision = "3%"\n{rest}'


@pytest.mark.parametrize(
    ("measure", "rest", "windows"),
    [
        ("90s", "", "120 s to 90 s"),
        ("90s", 'measure_min = "19s"', "19 s to 90 s"),
        ("90s", 'measure_min = "91s"', "91 s to 90 s"),
    ],
)
def test_a_precision_needs_time_for_its_windows(measure, rest, windows):
    problem = error(LEAST + STOPPING.format(measure=measure, rest=rest))
    assert f"windows of {windows}" in problem.message
    assert "measure_min" in problem.hint


@pytest.mark.parametrize("load", ["rate_per_s = [10]", "sessions = [1]\nrate_per_s = [10]"])
def test_a_precision_needs_a_throughput_to_be_found_out(load):
    text = LEAST.replace("sessions = [1]", load) + STOPPING.format(measure="200s", rest="")
    assert "load.rate_per_s" in error(text).message


def test_a_shortest_window_without_a_precision_is_an_error():
    problem = error(LEAST + '[phases]\nmeasure_min = "30s"\n')
    assert "no phases.precision" in problem.message


def test_a_precision_with_time_enough_is_resolved_with_its_rule():
    plan = parse(LEAST + STOPPING.format(measure="15m", rest=""), "p.toml")
    stopping = resolve_stopping(plan.phases)
    assert stopping is not None
    assert stopping.model_dump() == {"rule": "dyno-stopping/1", "precision": 0.03, "measure_min_s": 120.0}
    assert resolve_stopping(parse(LEAST, "p.toml").phases) is None

"""The setting `auto`: the same from the command line, from TOML and from Python."""

import pytest

from blox import Experiment
from blox.errors import BloxError
from blox.lookahead.auto import Auto, auto_names

CLAUSES = (
    "scheduler=fifo,srtf,las",
    "admission=accept-all,threshold:factor=1.2,quota:user_jobs=2,user_gpus=4",
    "every=10,objective=avg_jct+avg_responsiveness,hysteresis=0.05,belief=noisy:sigma=0.3,horizon=24h",
)
AUTO = Auto(
    scheduler=("fifo", "srtf", "las"),
    admission=("accept-all", "threshold:factor=1.2", "quota:user_jobs=2,user_gpus=4"),
    every=10,
    objective="avg_jct+avg_responsiveness",
    hysteresis=0.05,
    belief="noisy:sigma=0.3",
    horizon=86_400.0,
)


def test_text_table_and_object_are_the_same(tmp_path):
    assert Auto.of(";".join(CLAUSES)) == AUTO
    table = {**vars(AUTO), "scheduler": ["fifo", "srtf", "las"], "horizon": "24h"}
    assert Auto.of(table) == AUTO
    (tmp_path / "e.toml").write_text(
        '[auto]\nscheduler = ["fifo", "srtf", "las"]\nevery = 10\nobjective = "avg_jct"\nbelief = "none"\n'
    )
    from_file = Experiment.from_toml(tmp_path / "e.toml")
    assert from_file == Experiment(auto="scheduler=fifo,srtf,las;belief=none")
    assert from_file == Experiment(auto=Auto(scheduler=("fifo", "srtf", "las"), belief="none"))
    assert from_file == Experiment(auto={"scheduler": ["fifo", "srtf", "las"], "belief": "none"})


def test_several_objectives_may_be_a_list(tmp_path):
    (tmp_path / "e.toml").write_text(
        '[auto]\nscheduler = ["fifo", "las"]\nobjective = ["avg_jct", "avg_responsiveness"]\n'
    )
    from_file = Experiment.from_toml(tmp_path / "e.toml")
    assert from_file == Experiment(auto="scheduler=fifo,las;objective=avg_jct+avg_responsiveness")
    assert from_file == Experiment(auto="scheduler=fifo,las;objective=avg_jct,avg_responsiveness")
    with pytest.raises(BloxError, match="objective is 3"):
        Auto.of({"scheduler": ["fifo", "las"], "objective": 3})


def test_the_text_says_what_differs_from_the_defaults_and_reads_back():
    assert Auto.of(str(AUTO)) == AUTO
    assert str(Auto.of("scheduler=fifo,las;every=10")) == "scheduler=fifo,las"


def test_several_are_called_by_the_options_in_which_they_differ():
    lists = "scheduler=fifo,las"
    texts = [f"{lists};admission=accept-all,threshold:factor=1.2", f"{lists};belief=noisy:sigma=2", lists, ""]
    assert auto_names(texts) == [
        "auto [admission=accept-all,threshold:factor=1.2]",
        "auto [belief=noisy:sigma=2]",
        "auto",
        "",
    ]
    assert auto_names([lists, ""]) == ["auto", ""] and auto_names(["", ""]) == ["", ""]


def test_an_experiment_without_it_keeps_its_settings_as_they_were():
    assert "auto" not in Experiment().to_table()
    assert Experiment(auto="scheduler=fifo,las").to_table()["auto"] == "scheduler=fifo,las"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("every=10", "it names no policies"),
        ("scheduler=fifo", "one combination, so there is nothing to choose"),
        ("scheduler=fifo;admission=accept-all", "one combination"),
        ("schedulers=fifo,las", "no option is called 'schedulers'"),
        ("scheduler=fifo,fifo", "names 'fifo' twice"),
        ("scheduler=fifo,,las", "an empty policy"),
        ("scheduler=fifo,las;scheduler=srtf", "scheduler is given twice"),
        ("scheduler=fifo,las;every=0", "every is 0"),
        ("scheduler=fifo,las;every=2.5", "every is '2.5'"),
        ("scheduler=fifo,las;hysteresis=1", "hysteresis is 1"),
        ("scheduler=fifo,las;horizon=0", "the horizon is 0"),
        ("scheduler=fifo,las;objective=avg_jctt", "no figure is called"),
        ("scheduler=fifo,las;belief=known", "no belief is called"),
        ("scheduler=fifo,lass", "no scheduling part is called 'lass'"),
        ("scheduler=fifo,las,evry=5", "no option is called 'evry'"),
    ],
)
def test_what_is_wrong_with_it_is_told_before_anything_runs(text, words):
    with pytest.raises(BloxError, match=words) as fault:
        Experiment(auto=text, workload="constant", jobs=2).prepare()
    assert fault.value.fix


def test_a_policy_of_a_kind_that_is_chosen_cannot_be_named_as_well():
    with pytest.raises(BloxError, match="together with a list"):
        Experiment(scheduler="las", auto="scheduler=fifo,srtf", workload="constant", jobs=2).prepare()
    with pytest.raises(BloxError, match="compat"):
        Experiment(compat="blox:policy=Las", auto="scheduler=fifo,srtf", workload="constant").prepare()


@pytest.mark.parametrize(
    ("lines", "place", "words"),
    [
        ("[auto]\nscheduler = ['fifo', 'las']\nevery = 0", ":4, [auto] every", "every is 0"),
        ("[auto]\nscheduler = ['fifo', 'las']\n\nevry = 3", ":5, [auto] evry", "no option is called 'evry'"),
        ("[auto]\nscheduler = 3", ":3, [auto] scheduler", "scheduler is 3"),
        ("[auto]\nevery = 3", ":2, auto", "it names no policies"),
        ("[auto]\nscheduler = ['fifo', 'las']\nobjective = 'finished'", ":4, [auto] objective", "cannot be"),
        ("[auto]\nscheduler = ['fifo', 'las']\nbelief = 'noisi'", ":4, [auto] belief", "no belief is called"),
        ("auto.scheduler = ['fifo', 'las']\nauto.horizon = 'x'", ":3, [auto] horizon", "not a duration"),
        ("auto = 'scheduler=fifo,las;evry=3'", ":2, auto", "no option is called 'evry'"),
        ("auto = 3", ":2, auto", "auto is 3"),
        ("[auto]\nscheduler = ['fifo', 'lass']", ":3, [auto] scheduler", "lass: no scheduling part"),
        ("[auto]\nscheduler = ['fifo', 'las:by=x']", ":3, [auto] scheduler", "las:by=x: 'x' is not one"),
    ],
)
def test_mistakes_in_a_file_are_told_with_its_line(tmp_path, lines, place, words):
    (tmp_path / "e.toml").write_text(f'workload = "constant"\n{lines}\n')
    with pytest.raises(BloxError, match=words) as told:
        Experiment.from_toml(tmp_path / "e.toml")
    assert told.value.where == f"{tmp_path / 'e.toml'}{place}"

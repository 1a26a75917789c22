"""The documents say what is so: links lead somewhere, commands run, tables are those of the code."""

import ast
import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest

import blox
from blox import registry
from blox.compat.blox import BloxCompat
from blox.failures.spec import failures_from_spec
from blox.failures.timeline import Timeline
from blox.options import SimulationOptions
from blox.registry import PACKAGES
from blox.results.files import read_jobs
from blox.state.cluster_spec import cluster_from_spec
from support.pages import FENCED, blocks, check_shown, follow, section, shell
from support.places import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


def prose(page):
    return FENCED.sub("", page.read_text())


def anchors(page):
    """The anchors of a page's headings, as web pages of repositories make them."""
    found = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in found}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_relative_links_lead_somewhere(page):
    links = re.findall(r"\]\(([^)\s]+)\)", prose(page))
    for link in links:
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page.name}: {link} leads nowhere"
        if anchor:
            assert anchor in anchors(target), f"{page.name}: {link}: no such heading"


def test_the_readme_can_be_followed(tmp_path):
    """Its commands run; two of them are examples."""
    typed = follow(
        ROOT / "README.md", tmp_path, [("--window 100-200 --out", "--window 20-40 --no-report --out")]
    )
    assert len(list((tmp_path / "results" / "sweep" / "runs").glob("*/experiment.toml"))) == 18
    assert len((tmp_path / "results" / "sweep" / "sweep.csv").read_text().splitlines()) == 19
    experiment = next(text for command, text in typed.items() if "experiment.toml" in command)
    assert "Over 501 jobs" in experiment


def test_python_can_be_followed(tmp_path, monkeypatch, capsys):
    page = (ROOT / "docs" / "python.md").read_text()
    one, _, many = page.partition("## Many runs")
    monkeypatch.chdir(tmp_path)
    exec("\n".join(blocks(one, "python")), {"__name__": "page"})
    printed = capsys.readouterr().out
    assert printed.startswith("Result('las:by=time', jobs=120, finished=120")
    assert re.search(r"(\d+) GPU hours, \1 in the summary", printed)
    (tmp_path / "many.py").write_text(blocks(many, "python")[0])
    done = shell("python many.py", tmp_path)
    assert done.returncode == 0, done.stderr
    assert [line.split()[:2] for line in done.stdout.splitlines()[:6]] == [
        [name, seed] for name in ("fifo", "las") for seed in "123"
    ]
    assert done.stdout.count("Interval(") == 2
    assert (tmp_path / "results" / "pictures" / "jct_cdf.svg").is_file()


def test_generators_of_your_own_can_be_followed(tmp_path):
    text = section((ROOT / "docs" / "workloads.md").read_text(), "### A generator of your own")
    described, compared = follow(text, tmp_path).values()
    assert "Night" in described and "Over 160 jobs in each run" in compared


def test_the_page_on_failures_can_be_followed(tmp_path):
    typed = follow(ROOT / "docs" / "failures.md", tmp_path)
    told = next(text for command, text in typed.items() if "explain" in command)
    assert "node-4 failed" in told and "21.6 min" in told, "the page shows this job"
    assert (tmp_path / "results" / "rack" / "outages.csv").read_text().count(",7200,9000,") == 4


def test_every_source_of_failures_is_in_the_table_and_every_example_of_it_can_be_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "failures.md").read_text()
    Path("outages.csv").write_text(re.search(r"```csv\n(.*?)```", text, re.DOTALL)[1])
    Path("rack.py").write_text(re.search(r"as `rack\.py`:\n\n```python\n(.*?)```", text, re.DOTALL)[1])
    Path("windows.toml").write_text('[[reservation]]\nbegin = "36h"\nlasts = "4h"\nnodes = ["7"]\n')
    table = text[text.index("| `--failures` |") : text.index("Durations are written")]
    cluster, found = cluster_from_spec("8x4:racks=2"), set()
    for spec in re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE)[1:]:
        sources = failures_from_spec(spec)
        next(iter(Timeline(sources, cluster, seed=0).due(1e7)), None)
        found |= {type(source) for source in sources}
    assert found >= {*registry.classes("failures").values()}


def test_the_page_on_results_can_be_followed(tmp_path, monkeypatch, capsys):
    page = ROOT / "docs" / "results.md"
    typed = follow(page, tmp_path)
    blocks = "\n".join(text for _, text in FENCED.findall(page.read_text()))
    shown = [line for line in blocks.splitlines() if "wait 36.6 h" in line]
    march = next(text for command, text in typed.items() if " --by gpus" in command)
    assert shown and all(line in march for line in shown), "the page shows these jobs"
    explained = "".join(
        line.rstrip() + "\n"
        for command, text in typed.items()
        if " explain " in command
        for line in text.splitlines()
    )
    for block in re.findall(
        r"^(?:cause  |ran instead|place ).*?\n(?=\n|\Z|decisions)", blocks, re.MULTILINE | re.DOTALL
    ):
        assert block in explained, "the page shows what explain tells"
    head = (tmp_path / "by-tenant.csv").read_text().splitlines()[0].split(",")
    assert head[:4] == ["by", "group", "run", "jobs"]
    assert "\\begin{tabular}" in (tmp_path / "by-tenant.tex").read_text()
    assert len(list((tmp_path / "results" / "months" / "figures").glob("*.pdf"))) == 10
    snippet = re.search(r"^from blox import Result.*", blocks, re.MULTILINE | re.DOTALL)
    snippet = snippet[0].partition("\n# pandas")[0]
    monkeypatch.chdir(tmp_path)
    exec(snippet, {})
    assert "vc01" in capsys.readouterr().out


def test_the_page_on_looking_ahead_can_be_followed(tmp_path):
    page = ROOT / "docs" / "looking-ahead.md"
    typed = follow(page, tmp_path)
    assert "would" in next(text for command, text in typed.items() if command.startswith("blox when"))
    assert "Which policies ruled" in (tmp_path / "results" / "auto" / "report.html").read_text()
    for kind, text in FENCED.findall(page.read_text()):
        if kind == "python":
            exec(text, {})
        if kind == "toml":
            (tmp_path / "auto.toml").write_text(text)
            assert blox.Experiment.from_toml(tmp_path / "auto.toml").auto


def test_a_newcomer_writes_a_policy(tmp_path):
    page = ROOT / "docs" / "writing-a-policy.md"
    typed = follow(page, tmp_path)
    check_shown(page, typed)
    checked = {command: output for command, output in typed.items() if command.startswith("blox check")}
    faulty = [command for command in checked if command.endswith('$?"')]
    for command, output in checked.items():
        if command in faulty:
            assert "exit code 1" in output and "does not conform" in output, output
        else:
            assert ": conforms" in output, output
    assert len(faulty) == 1, "one policy of the page is faulty, to show what that looks like"
    for command, output in typed.items():
        if "--out " in command:
            out = tmp_path / command.split("--out ")[1].split()[0]
            assert any(out.rglob("jobs.csv")) and any(out.rglob("summary.json")), command
            assert output.strip()
    assert (tmp_path / "results" / "compare" / "report.html").is_file()
    elastic = [command for command in typed if "even.py" in command]
    assert [command.split()[1] for command in elastic] == ["check", "run", "compare"]
    jobs = read_jobs(tmp_path / "results" / "even" / "jobs.csv", 40)
    assert jobs["moves"].sum() > 40, "the elastic policy of the page resizes jobs"
    assert (jobs["gpu_seconds"] != jobs["gpus"] * jobs["run_s"]).any()
    rigid, even = (
        read_jobs(tmp_path / "results" / "elastic" / name / "jobs.csv", 40) for name in ("fifo", "Even")
    )
    assert even["jct_s"].mean() < rigid["jct_s"].mean(), "it is better than running jobs as they ask"
    slower = even["run_s"] / rigid["run_s"]  # on fewer GPUs than a job asks for, not by its batch
    assert slower.max() < 5, sorted(slower)
    capped, quota = (
        read_jobs(tmp_path / "results" / "caps" / f"fifo-{name}" / "jobs.csv", 400)
        for name in ("UserCap", "quota-user_jobs=4")
    )
    assert np.array_equal(capped["finish_s"], quota["finish_s"]), "the cap of the page is the built-in one"
    ended = read_jobs(tmp_path / "results" / "beaten" / "jobs.csv", 300)
    early = ended["state"] == "ended early"
    assert early.any() and set(ended["end_reason"][early].tolist()) == {"its accuracy was below the median"}
    again = shell("blox run results/ageing/experiment.toml --out results/again", tmp_path)
    assert again.returncode == 0, again.stderr
    for name in ("jobs.csv", "summary.json", "experiment.toml"):
        first, second = (tmp_path / "results" / each / name for each in ("ageing", "again"))
        assert first.read_bytes() == second.read_bytes(), name


def test_uncertainty_can_be_followed_and_computed(tmp_path):
    page = ROOT / "docs" / "uncertainty.md"
    typed = follow(page, tmp_path, [(f"--seeds {n} --out", f"--seeds {n} --jobs 300 --out") for n in (3, 5)])
    assert all("Means of" in output for command, output in typed.items() if "--seeds" in command)
    assert (tmp_path / "results" / "las" / "intervals.json").is_file()
    (code,) = (text for kind, text in FENCED.findall(page.read_text()) if kind == "python")
    (tmp_path / "example.py").write_text(code.replace("results/las", "results/python"))
    done = shell("python example.py", tmp_path)
    assert done.returncode == 0 and done.stdout.count("Interval(") == 2, done.stderr


def test_a_newcomer_writes_a_backend(tmp_path):
    page = ROOT / "docs" / "writing-a-backend.md"
    typed = follow(page, tmp_path)
    assert [command.split()[1] for command in typed] == ["run", "check", "check", "run"]
    check_shown(page, typed)
    slowed = read_jobs(tmp_path / "results" / "weekends" / "jobs.csv", 4)
    assert slowed["finish_s"][0] == 8 * 86400, "seven days of work, two of which are a weekend at half speed"


def test_the_lottery_is_mended_as_the_page_says(tmp_path):
    text = (ROOT / "docs" / "writing-a-policy.md").read_text()
    faulty = re.search(r"as `lottery\.py`:\n\n```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)[1]
    mended = re.search(r"With `(by=job_state\.rng.*?)` it passes", text)[1]
    (tmp_path / "lottery.py").write_text(re.sub(r"by=.*\)\)$", f"{mended})", faulty, flags=re.MULTILINE))
    assert ": conforms" in shell("blox check ./lottery.py:Lottery", tmp_path).stdout


def test_settings_in_semantics_are_those_of_an_experiment():
    text = (ROOT / "docs" / "semantics.md").read_text()
    section = text[text.index("## An experiment") : text.index("## Time and rounds")]
    rows = [line.split("|")[1:3] for line in section.splitlines() if line.startswith("| `")]
    listed = {}
    for names, defaults in rows:
        names = re.findall(r"`([^`]+)`", names)
        defaults = re.findall(r"`([^`]+)`", defaults) or re.findall(r"[^,\s]+", defaults)
        listed.update(zip(names, defaults or [""] * len(names)))
    fields = {f.name: f.default for f in dataclasses.fields(blox.Experiment)}
    words = {
        name: "" if value in (None, "") else f"{value:g}" if isinstance(value, float) else str(value)
        for name, value in fields.items()
    }
    assert listed == words


def test_the_cluster_in_semantics_is_the_example():
    text = (ROOT / "docs" / "semantics.md").read_text()
    assert (ROOT / "examples" / "cluster.toml").read_text() in text


def test_fidelity_names_every_option_and_quirk():
    text = (ROOT / "docs" / "fidelity.md").read_text()
    for option in dataclasses.fields(SimulationOptions):
        assert f"`{option.name}`" in text, option.name
    for parameter in dataclasses.fields(BloxCompat):
        assert parameter.name in text, parameter.name


def home_of_each(names: list[ast.alias]) -> list[str]:
    """The module or package, of those in the layers, that each name of `from blox import ...` comes from."""
    return [blox._HOMES.get(each.name, each.name).partition(".")[0] for each in names]


def test_layers_are_as_the_architecture_says():
    text = (ROOT / "docs" / "architecture.md").read_text()
    section = text[text.index("## Layers") : text.index("## The way of a job")]
    rows = [line.split("|")[2] for line in section.splitlines() if line.startswith("| ")][1:]
    layers = {
        name.removesuffix(".py").rstrip("/"): i
        for i, row in enumerate(rows)
        for name in re.findall(r"`(.+?)`", row)
    }
    source = ROOT / "src" / "blox"
    wrong = []
    for file in source.rglob("*.py"):
        module = file.relative_to(source).with_suffix("").parts[0]
        if module == "__init__":
            continue
        assert module in layers, f"docs/architecture.md does not say where {module} belongs"
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "blox":
                names = [node.module.split(".")[1]] if "." in node.module else home_of_each(node.names)
                wrong += [
                    f"{file.relative_to(source)}: {name}" for name in names if layers[name] < layers[module]
                ]
    assert not wrong, f"imports from a layer above: {wrong}"


def test_every_kind_of_part_can_be_published():
    text = (ROOT / "docs" / "writing-a-policy.md").read_text()
    assert all(f"`blox.{kind}`" in text for kind in PACKAGES)


def test_the_public_names_are_pinned():
    assert sorted(blox.__all__) == [
        "Allocation",
        "BloxError",
        "BloxManager",
        "ClusterState",
        "Experiment",
        "JobState",
        "Plan",
        "Replications",
        "Result",
        "Schedule",
        "__version__",
        "difference",
        "interval",
        "register",
        "run_all",
    ]
    assert all(hasattr(blox, name) for name in blox.__all__)

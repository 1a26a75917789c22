"""What readers say of bad files: the place, the value, the fix; all faults, not the first only."""

import gzip
import pickle

import pytest

from blox.errors import BloxError
from blox.workloads.readers.csv import Csv
from blox.workloads.readers.philly import Philly
from blox.workloads.spec import workload_from_spec
from blox.workloads.table import JobTable

OURS = "job_id,submit_s,gpus,duration_s\n"
PHILLY = "timestamp,duration,num_gpus,gpu_time,cluster\n"
HELIOS = "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue\n"
OPENB = (
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,"
    "scheduled_time\n"
)
ACME = (
    "job_id,user,node_num,gpu_num,cpu_num,type,state,submit_time,start_time,end_time,duration,queue,"
    "gpu_time\n"
)
ELASTIC = "job_id,submission_time,duration,num_gpu\n"
TIRESIAS = "job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n"
SYNERGY = "job_id,arrival_s,gpus,task,model,total_iterations,iter_time_fair_s,duration_fair_s\n"
BLOX = "job_id,arrival_s,num_gpus,total_iterations,iteration_time_s,duration_s,class_id,model\n"
LOG = '[{{"jobid": "j1", "vc": "v", "user": "u", "submitted_time": "{}",\n"attempts": {}}}\n]'

# (format, text of the file, words of the error after the file name)
FAULTS = [
    ("csv", "", ": the file is empty"),
    ("csv", OURS, ": no jobs in the file"),
    ("csv", OURS + "a,0,1,x\n", ":2: duration_s is 'x'"),
    ("csv", OURS + "a,0,1,5\nb,0,1,\n", ":3: duration_s is empty"),
    ("csv", OURS + "a,0,1,-5\n", ":2: duration_s is -5"),
    ("csv", OURS + "a,0,1,0\n", ":2: duration_s is 0"),
    ("csv", OURS + "a,0,1,inf\n", ":2: duration_s is 'inf'"),
    ("csv", OURS + "a,0,1,nan\n", ":2: duration_s is 'nan'"),
    ("csv", OURS + "a,-1,1,5\n", ":2: submit_s is -1"),
    ("csv", OURS + "a,0,0,5\n", ":2: gpus is 0"),
    ("csv", OURS + "a,0,1.5,5\n", ":2: gpus is '1.5'"),
    ("csv", OURS + "a,0,1,5\na,1,1,5\n", ":3: the job_id 'a' is used twice (first in line 2)"),
    ("csv", OURS + ",0,1,5\n", ":2: job_id is empty"),
    ("csv", OURS + "a,0,1\n", ":2: 3 cells in this line, 4 wanted"),
    ("csv", OURS + "a,0,1,5,6\n", ":2: 5 cells in this line, 4 wanted"),
    ("csv", "job_id,submit_s,gpu,duration_s\na,0,1,5\n", ":1: the column 'gpus' is missing"),
    ("csv", "job_id,submit_s,gpus,duration_s,gpus\na,0,1,5,1\n", ":1: the column 'gpus' is there twice"),
    ("csv", OURS.strip() + ",min_gpus\na,0,1,5,2\n", ":2: min_gpus is 2"),
    ("csv", OURS.strip() + ",max_gpus\na,0,4,5,2\n", ":2: max_gpus is 2"),
    ("csv", OURS.strip() + ",share_milli\na,0,4,5,1001\n", ":2: share_milli is 1001"),
    ("csv", OURS.strip() + ",iterations\na,0,4,5,-3\n", ":2: iterations is -3"),
    ("csv", OURS + "a,0,1,1e10\n", ":2: duration_s is 10000000000"),
    ("csv", OURS + "a,0,1e17,5\n", ":2: gpus is '1e17'"),
    ("csv", OURS + 'a,0,1,5\nb,0,1,"5\nc,0,1,5\n', ":3: a quotation mark is opened in this line and never"),
    ("philly", "", ": the file is empty"),
    ("philly", PHILLY + "2017-11-02 00:01:00,x,1,1,a\n", ":2: duration is 'x'"),
    ("philly", PHILLY + "2017-11-02 00:01:00,-4,1,1,a\n", ":2: duration is -4"),
    ("philly", PHILLY + "yesterday,4,1,1,a\n", ":2: timestamp is 'yesterday'"),
    ("philly", "timestamp,duration\n2017-11-02 00:01:00,4\n", ":1: the column 'num_gpus' is missing"),
    ("philly", '[\n{"jobid": }\n]', ":2: is not JSON"),
    ("philly", '[\n{"jobid": 1}\n{"jobid": 2}\n]', ":3: is not JSON: a comma or ] is missing"),
    ("philly", '{"jobs": []}', ":1: is not a JSON list of jobs"),
    ("philly", "[]", ": no jobs in the file"),
    ("philly", '[\n\n{"jobid": "j1"}]', ":3: the job has no 'attempts'"),
    ("philly", "[\n7]", ":2: the job cannot be read"),
    ("philly", LOG.format("soon", "[]"), ": no job is left"),
    (
        "philly",
        LOG.format(
            "soon",
            '[{"start_time": "2017-11-02 00:01:00", "end_time": "2017-11-02 00:02:00",'
            ' "detail": [{"gpus": ["g"]}]}]',
        ),
        ":1: submitted_time is 'soon'",
    ),
    (
        "philly",
        LOG.format("2017-11-02 00:01:00", '[{"start_time": "then", "end_time": "2017-11-02 00:02:00"}]'),
        ":1: the job cannot be read",
    ),
    ("helios", "", ": the file is empty"),
    ("helios", HELIOS + "1,u,v,one,4,1,S,2020-05-01 00:00:10,,,5,0\n", ":2: gpu_num is 'one'"),
    ("helios", HELIOS + "1,u,v,1,4,1,S,2020-05-01 00:00:10,,,-5,0\n", ":2: duration is -5"),
    ("helios", HELIOS + "1,u,v,1,4,1,S,2020-13-01 00:00:10,,,5,0\n", ":2: submit_time is '2020-13-01"),
    (
        "helios",
        HELIOS + 2 * "1,u,v,1,4,1,S,2020-05-01 00:00:10,,,5,0\n",
        ":3: the job_id '1' is used twice (first in line 2)",
    ),
    ("helios", "job_id,gpu_num\n1,1\n", ":1: the column 'submit_time' is missing"),
    ("openb", "", ": the file is empty"),
    ("openb", OPENB + "p,1,1,1,1000,,LS,Running,zero,9,2\n", ":2: creation_time is 'zero'"),
    ("openb", OPENB + "p,1,1,1,1500,,LS,Running,1,9,2\n", ":2: gpu_milli is 1500"),
    ("openb", OPENB + "p,1,1,1,1000,,LS,Running,1,2,9\n", ": no job is left"),
    ("openb", "name,num_gpu\np,1\n", ":1: the column 'gpu_milli' is missing"),
    ("acme", "", ": the file is empty"),
    ("acme", ACME + "k,u,1,x,1,t,s,2023-05-17 11:00:00,,,1,1,1\n", ":2: gpu_num is 'x'"),
    (
        "acme",
        ACME + "k,u,1,1,1,t,s,2023-05-17 11:00:00,never,2023-05-17 11:00:00,1,1,1\n",
        ":2: start_time is 'never'",
    ),
    ("acme", "job_id,gpu_num,submit_time\nk,1,1\n", ":1: the column 'start_time' is missing"),
    ("elasticflow", "", ": the file is empty"),
    ("elasticflow", ELASTIC + "a,0,-600,1\n", ":2: duration is -600"),
    ("elasticflow", ELASTIC + "a,zero,600,1\n", ":2: submission_time is 'zero'"),
    ("elasticflow", ELASTIC + "a,1,600,1\na,2,600,1\n", ":3: the job_id 'a' is used twice"),
    (
        "elasticflow",
        "job_id,submit_time,duration,num_gpu\na,1,6,1\n",
        ":1: the column 'submission_time' is missing",
    ),
    ("tiresias", "", ": the file is empty"),
    ("tiresias", TIRESIAS + "0,1,0,6,vgg,-9,3\n", ":2: duration is -9"),
    ("tiresias", TIRESIAS + "0,none,0,6,vgg,9,3\n", ":2: num_gpu is 'none'"),
    ("tiresias", TIRESIAS + "0,1,0,6,vgg,9,3\n0,1,1,6,vgg,9,3\n", ":3: the job_id '0' is used twice"),
    ("tiresias", "job_id,num_gpu,submit_time\n0,1,0\n", ":1: the column 'duration' is missing"),
    ("synergy", "", ": the file is empty"),
    ("synergy", SYNERGY + "0,1,1,IMAGE,alexnet,10,0.6,-6\n", ":2: duration_fair_s is -6"),
    ("synergy", SYNERGY + "0,1,1,IMAGE,alexnet,many,0.6,6\n", ":2: total_iterations is 'many'"),
    ("synergy", "job_id,arrival_s,gpus\n0,1,1\n", ":1: the column 'duration_fair_s' is missing"),
    ("blox", "", ": the file is empty"),
    ("blox", BLOX + "zero,1,1,5,1,5,0,a\n", ":2: job_id is 'zero'"),
    ("blox", BLOX + "0,1,1,5,1,-5,0,a\n", ":2: duration_s is -5"),
    ("blox", BLOX + "0,1,1,5,1,5,0,a\n0,1,1,5,1,5,0,a\n", ":3: the job_id 0 is used twice"),
    ("blox", "job_id,arrival_s,num_gpus\n0,1,1\n", ":1: the column 'total_iterations' is missing"),
]


def read(spec):
    return workload_from_spec(spec).table


@pytest.mark.parametrize(("name", "text", "words"), FAULTS, ids=[f"{f[0]}-{i}" for i, f in enumerate(FAULTS)])
def test_a_fault_names_file_line_and_value(tmp_path, name, text, words):
    file = tmp_path / "trace"
    file.write_text(text)
    with pytest.raises(BloxError) as caught:
        read(f"{name}:{file}")
    assert f"{file}{words}" in caught.value.text()
    assert caught.value.fix, "every fault says what to do about it"


def test_a_missing_column_names_those_present(tmp_path):
    file = tmp_path / "jobs.csv"
    file.write_text("job_id,submit_s,gpu,duration_s\na,0,1,5\n")
    with pytest.raises(
        BloxError, match="columns present: job_id, submit_s, gpu, duration_s; did you mean 'gpu'"
    ):
        Csv(str(file)).read()


GAVEL = "A3C\tpython3 rl.py\trl\t--steps\t0\t{steps}\t{gpus}\t1\t-1\t{time}\n"


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("", "throughputs=T", ": the file is empty"),
        (GAVEL.format(steps=9, gpus=2, time=0), "", ": a Gavel trace counts steps"),
        (GAVEL.format(steps="x", gpus=2, time=0), "throughputs=T", ":1: total_steps is 'x'"),
        (GAVEL.format(steps=-9, gpus=2, time=0), "throughputs=T", ":1: total_steps / throughput is -4.5"),
        (GAVEL.format(steps=9, gpus=2, time=-1), "throughputs=T", ":1: arrival_time is -1"),
        (GAVEL.format(steps=9, gpus=3, time=0), "throughputs=T", ":1: no throughput of 'A3C' on 3 v100 GPUs"),
        (
            GAVEL.format(steps=9, gpus=1, time=0),
            "throughputs=T",
            ":1: the throughput of 'A3C' on 1 v100 GPUs is 0",
        ),
        ("A3C\tx\t1\t1\t1\t1\t1\n", "throughputs=T", ":1: has 7 columns"),
        ("A3C,x,1\n", "throughputs=T", ":1: 1 cell in this line, 10 wanted"),
    ],
)
def test_gavel_faults(tmp_path, samples, text, options, words):
    file = tmp_path / "jobs.trace"
    file.write_text(text)
    options = options.replace("=T", f"={samples / 'gavel_throughputs.json'}")
    with pytest.raises(BloxError) as caught:
        read(f"gavel:{file}?{options}")
    assert f"{file}{words}" in caught.value.text()


@pytest.mark.parametrize(
    ("text", "reference", "words"),
    [
        ("{", "v100", ":1: is not JSON"),
        ("[]", "v100", ": is not a throughput table"),
        ('{"v100": {}}', "v10", ": no GPU type is called 'v10'"),
    ],
)
def test_gavel_throughput_table_faults(tmp_path, samples, text, reference, words):
    table = tmp_path / "t.json"
    table.write_text(text)
    with pytest.raises(BloxError) as caught:
        read(f"gavel:{samples / 'gavel.trace'}?throughputs={table}&reference={reference}")
    assert f"{table}{words}" in caught.value.text()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("toy-0,0,toy,x,8", ":2: num_replicas is 'x'"),
        ("toy-0,0,toy,0,8", ":2: num_replicas is 0"),
        ("toy-0,0,toi,1,8", ":2: no application is called 'toi'"),
        ("toy-0,0,toy,1,0", ":2: batch_size is 0"),
        ("toy-0,0,toy,1,4", ":2: batch_size is 4, and toy was validated with 8 to 16"),
        ("toy-0,0,toy,1,8\ntoy-1,0,toy,1,99999", ":3: batch_size is 99999, and toy was validated"),
        ("toy-0,0,toy,-1,8", ":2: num_replicas is -1"),
        ("toy-0,-5,toy,1,8", ":2: time is -5"),
        ("toy-0,5,toy,1,8\ntoy-0,5,toy,1,8", ":3: the name 'toy-0' is used twice"),
    ],
)
def test_pollux_faults(tmp_path, samples, line, words):
    file = tmp_path / "w.csv"
    file.write_text(f"name,time,application,num_replicas,batch_size\n{line}\n")
    workload = workload_from_spec(f"pollux:{file}?applications={samples / 'pollux' / 'applications'}")
    with pytest.raises(BloxError) as caught:
        workload.reader.read()
    assert f"{file}{words}" in caught.value.text()
    assert len(workload.reader.examine()[1]) == 1, "one mistake is one problem"


def test_pai_faults(tmp_path, samples):
    jobs, tasks = tmp_path / "pai_job_table.csv", tmp_path / "pai_task_table.csv"
    jobs.write_text((samples / "pai" / "pai_job_table.csv").read_text())
    with pytest.raises(BloxError, match=r"holds no pai_task_table\.csv"):
        workload_from_spec(f"pai:{tmp_path}")
    tasks.write_text("job-a,worker,1,T,1,2,100,8,half,T4\n")
    with pytest.raises(BloxError, match=r"pai_task_table.csv:1: plan_gpu is 'half'"):
        read(f"pai:{tmp_path}")
    tasks.write_text((samples / "pai" / "pai_task_table.csv").read_text())
    jobs.write_text("job-a,i,u,T,noon,2\n")
    with pytest.raises(BloxError, match=r":1: start_time is 'noon'"):
        read(f"pai:{tmp_path}")
    (tmp_path / "pai_job_table.header").write_text("job_name,user\n")
    with pytest.raises(BloxError, match=r"pai_job_table.header:1: the column 'inst_id' is missing"):
        read(f"pai:{tmp_path}")


def test_all_faults_are_found_once_each(tmp_path):
    file = tmp_path / "jobs.csv"
    file.write_text(OURS + "a,0,1,x\nb,-1,0,5\na,2,1.5,3\nd,1,1\nc,1,1,1\n")
    table, problems = Csv(str(file)).examine()
    assert [(p.line, p.what.split(" is ")[0]) for p in problems] == [
        (2, "duration_s"),
        (3, "gpus"),
        (3, "submit_s"),
        (4, "gpus"),
        (4, "the job_id 'a'"),
        (5, "3 cells in this line, 4 wanted"),
    ]
    assert table.column("job_id").tolist() == ["c"], "what is good is still read"


def test_files_that_are_no_text(tmp_path):
    file = tmp_path / "jobs.csv"
    file.write_bytes(b"job_id,submit_s,gpus,duration_s\n\xff\xfe,0,1,5\n")
    with pytest.raises(BloxError, match=r"jobs.csv:2: is not UTF-8 text"):
        Csv(str(file)).read()
    file.write_bytes(gzip.compress(b"job_id,submit_s\n" * 100)[:-20])
    with pytest.raises(BloxError, match="the gzip file is damaged"):
        Csv(str(file)).read()
    file.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\n")
    with pytest.raises(BloxError, match="Git LFS pointer"):
        Csv(str(file)).read()
    with pytest.raises(BloxError, match="is a folder"):
        Csv(str(tmp_path)).read()


def test_missing_files_name_the_path(tmp_path):
    with pytest.raises(BloxError, match=r"nowhere/log.json: no such file"):
        Philly(str(tmp_path / "nowhere" / "log.json")).read()


def test_a_cell_is_at_fault_once(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text(OURS.strip() + ",min_gpus\na,0,0.5,60,1\nb,0,x,60,1\n")
    problems = Csv(str(file)).examine()[1]
    assert [(each.line, each.what) for each in problems] == [(2, "gpus is '0.5'"), (3, "gpus is 'x'")]


def test_a_job_is_told_by_the_line_where_it_begins(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text(OURS + '"a\nb",0,1,60\nc,0,0,60\n"d\ne",0,0,60\n')
    assert [each.line for each in Csv(str(file)).examine()[1]] == [4, 5]


def test_larger_jobs_are_left_out_and_counted(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text(OURS + "a,0,4,60\nb,1,8,60\nc,2,2,60\nd,3,16,60\ne,4,1,60\n")
    table = workload_from_spec(f"{file}?max_gpus=4&start=1").table
    assert table.columns["job_id"].tolist() == ["c", "e"]
    assert "left out 2 jobs: of more than 4 GPUs" in table.notes


def test_batch_sizes_and_their_limits_are_in_order(tmp_path):
    file = tmp_path / "t.csv"
    head = "job_id,submit_s,gpus,duration_s,min_batch_size,batch_size,max_batch_size\n"
    file.write_text(head + "a,0,1,9,32,64,128\nb,0,1,9,,64,\nc,0,1,9,32,,128\nd,0,1,9,,,\n")
    table = workload_from_spec(str(file)).table
    assert table.columns["min_batch_size"].tolist() == [32, 0, 32, 0]
    assert table.columns["max_batch_size"].tolist() == [128, 0, 128, 0]
    for line, words in (
        ("x,0,1,9,65,64,", "min_batch_size must not be above batch_size"),
        ("x,0,1,9,,64,63", "batch_size must not be above max_batch_size"),
        ("x,0,1,9,65,,64", "min_batch_size must not be above max_batch_size"),
        ("x,0,1,9,-1,,", "min_batch_size must be 0 or more"),
        ("x,0,1,9,,,-1", "max_batch_size must be 0 or more"),
    ):
        file.write_text(f"{head}{line}\n")
        with pytest.raises(BloxError, match=words) as caught:
            read(str(file))
        assert caught.value.where == f"{file}:2"
        columns = {"job_id": ["x"], "submit_s": [0.0], "gpus": [1], "duration_s": [9.0]}
        cells = dict(zip(head.strip().split(",")[4:], line.split(",")[4:]))
        columns |= {name: [int(cell)] for name, cell in cells.items() if cell}
        with pytest.raises(BloxError, match=words):
            JobTable.build(columns, source="python")


def test_the_columns_of_another_format_are_known_again(samples):
    file = samples / "pollux" / "workloads" / "workload.csv"
    for spec in (str(file), f"helios:{file}", f"tiresias:{file}"):
        with pytest.raises(BloxError, match=f"those of the format pollux: write pollux:{file}") as caught:
            read(spec)
        assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)

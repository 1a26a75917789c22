"""Jobs are grouped into apps by any column of a trace."""

import pytest

from blox.errors import BloxError
from blox.workloads.spec import workload_from_spec


def groups(path, header, option):
    path.write_text(f"{header}\n" + "\n".join(f"{i},0,1,60,{cell}" for i, cell in enumerate("xxy")) + "\n")
    return workload_from_spec(f"csv:{path}?group={option}").table.columns["group"].tolist()


def test_by_a_column_of_ours(tmp_path):
    assert groups(tmp_path / "t.csv", "job_id,submit_s,gpus,duration_s,user", "user") == ["x", "x", "y"]
    assert groups(tmp_path / "t.csv", "job_id,submit_s,gpus,duration_s,user", "gpus") == ["1", "1", "1"]


def test_by_a_column_that_only_the_file_knows(tmp_path):
    assert groups(tmp_path / "t.csv", "job_id,submit_s,gpus,duration_s,sweep", "sweep") == ["x", "x", "y"]


def test_by_one_that_is_not_there(tmp_path):
    with pytest.raises(BloxError, match="'usr' to group jobs by"):
        groups(tmp_path / "t.csv", "job_id,submit_s,gpus,duration_s,user", "usr")

"""Specs: where a file ends and options begin, and what a class is called."""

from dataclasses import dataclass
from typing import Literal, get_origin

import pytest

from blox.catalogue import KINDS
from blox.errors import BloxError
from blox.registry import (
    build,
    classes,
    file_in,
    find,
    kind_of,
    load_class,
    name_of,
    parameters,
    spec_named,
    spec_of,
)
from blox.schedulers.las import Las


@pytest.mark.parametrize(
    ("spec", "parts"),
    [
        ("./mine.py:Mine", ("./mine.py", "Mine", "")),
        ("mine.py:Mine:k=2,by=time", ("mine.py", "Mine", "k=2,by=time")),
        ("./mine.py:Mine:other=./his.py:His", ("./mine.py", "Mine", "other=./his.py:His")),
        ("./a:b/mine.py:Mine", ("./a:b/mine.py", "Mine", "")),
        ("/x=1/mine.py:Mine", ("/x=1/mine.py", "Mine", "")),
        ("las", None),
        ("las:by=time", None),
        ("promote:policy=./mine.py:Mine", None),
        ("promote:after_s=9,policy=./mine.py:Mine:k=2", None),
        ("promote:policy=./mine.py", None),
    ],
)
def test_a_spec_names_a_file_only_where_it_begins_with_one(spec, parts):
    assert file_in(spec) == parts


def test_a_file_needs_a_class():
    with pytest.raises(BloxError, match="a file needs a class behind it"):
        file_in("./mine.py")


def test_a_class_is_called_by_what_builds_it(tmp_path, monkeypatch):
    @dataclass(frozen=True)
    class Mine(Las):
        """A policy that only this program knows."""

    assert (spec_named(Las), name_of(Las), spec_of(Las(by="time"))) == ("las", "las", "las:by=time")
    assert (spec_named(Mine), name_of(Mine)) == (None, "Mine"), (
        "the name of its parent would build its parent"
    )
    assert kind_of(Mine) == "scheduling" and kind_of(object) == ""
    monkeypatch.chdir(tmp_path)
    source = "from blox.schedulers.las import Las\nclass Mine(Las):\n    pass\n"
    (tmp_path / "mine.py").write_text(source)
    assert name_of(load_class("./mine.py", "Mine")) == "./mine.py:Mine"


@pytest.mark.parametrize(
    ("name", "spec"),
    [
        ("easy", "backfill:kind=easy"),
        ("conservative:depth=3", "backfill:kind=conservative"),
        ("Slurm", "backfill:order=multifactor"),
        ("fcfs", "fifo"),
    ],
)
def test_a_name_that_other_systems_use_is_answered_with_the_spec_that_builds_it(name, spec):
    with pytest.raises(BloxError) as told:
        build("scheduling", name)
    assert f"here it is {spec!r}" in str(told.value)
    assert spec_of(build("scheduling", spec)).startswith(spec.partition(":")[0])


def test_options_behind_a_comma_are_answered_with_the_colon():
    with pytest.raises(BloxError) as told:
        find("placement", "consolidated,inside=bandwidth")
    assert told.value.fix == "options stand behind a colon: consolidated:inside=bandwidth"


CHOICES = [
    pytest.param(cls, parameters(cls), field, id=f"{kind} {name} {field}")
    for kind in KINDS
    for name, cls in classes(kind).items()
    for field, each in parameters(cls).items()
    if get_origin(each.type) is Literal
]


@pytest.mark.parametrize(("cls", "fields", "field"), CHOICES)
def test_a_constructor_refuses_what_is_none_of_the_choices(cls, fields, field):
    """As the registry does for specs; every field with choices of every part is tried."""
    required = {name: "text" for name, each in fields.items() if each.required}
    with pytest.raises(BloxError) as told:
        cls(**{**required, field: "sideways"})
    assert "'sideways'" in told.value.what

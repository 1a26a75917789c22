"""Where tests are: `tests/` has the folders of `src/blox/`, and helpers are written once."""

import ast
from collections import defaultdict

import pytest

from support.places import ROOT

TESTS, SOURCE = ROOT / "tests", ROOT / "src" / "blox"
OF_THEIR_OWN = {"docs", "fuzz", "golden", "properties", "support"}
FILES = sorted(path for path in TESTS.rglob("*.py") if "__pycache__" not in path.parts)


def mirrored():
    folders = {path.parent.relative_to(TESTS) for path in FILES} - {TESTS.relative_to(TESTS)}
    return sorted(str(folder) for folder in folders if folder.parts[0] not in OF_THEIR_OWN)


@pytest.mark.parametrize("folder", mirrored())
def test_a_folder_of_tests_is_a_folder_of_the_source(folder):
    assert (SOURCE / folder).is_dir(), f"src/blox/{folder} is absent: move the tests beside what they test"


def test_folders_that_mirror_nothing_are_explained():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    paragraph = text.partition("`tests/` has the folders of")[2].partition("\n\n")[0]
    assert [name for name in sorted(OF_THEIR_OWN) if f"{name}/`" not in paragraph] == []


def test_a_test_at_the_root_is_about_a_module_at_the_root():
    named = [path.stem.removeprefix("test_") for path in TESTS.glob("test_*.py")]
    assert [name for name in named if not (SOURCE / f"{name}.py").is_file()] == []


def test_helpers_are_written_once():
    """The same function in two files belongs to `tests/support`, or to a fixture in `tests/conftest.py`."""
    found = defaultdict(list)
    for path in FILES:
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("test_"):
                node.decorator_list, node.name = [], "it"
                found[ast.dump(node)].append(str(path.relative_to(TESTS)))
    assert [paths for paths in found.values() if len(paths) > 1] == []

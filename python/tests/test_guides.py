"""The Python examples of the guides in docs/ that are not a tutorial print what they say."""
import doctest
import os
import pathlib

import pytest

GUIDES = ["batches.md", "coming-from.md"]


@pytest.mark.parametrize("name", GUIDES)
def test_guide(name):
    path = pathlib.Path(os.environ["CAROM_SOURCE"]) / "docs" / name
    failed, tried = doctest.testfile(str(path), module_relative=False)
    assert tried > 0 and failed == 0

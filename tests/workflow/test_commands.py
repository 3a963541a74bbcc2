"""README's two commands, the study and the tests, in any order and again, in a clone."""

import pytest

pytestmark = pytest.mark.slow  # the unit tests, twice


def test_the_tests_and_a_study_go_in_any_order_and_again(clone_of_head):
    for _ in range(2):
        clone_of_head.run("python", "-m", "pytest", "-n", "2", "--quiet", "tests/unit")
        assert "what came out: " in clone_of_head.make("run", "STUDY=smoke").stdout

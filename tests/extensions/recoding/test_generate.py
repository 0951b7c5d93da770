"""The models of recodings that follow from a spec."""

from __future__ import annotations

import pytest

from tests.project.test_generate import call_of, files_of, python_call_of
from tests.spec.declarations import rich


def test_groups_are_found_as_declared() -> None:
    content = rich()
    del content["subject"]
    content["efforts"][2:] = [
        {"recoding": "microaggregation", "k": 8, "p_percent": 20},
        {
            "recoding": "microaggregation",
            "method": "mondrian",
            "numbers": "median",
            "categories": "mode",
        },
        {"recoding": "clustering", "cluster_size": 9, "halve": True, "merge": True},
    ]
    files = files_of(content)
    means, modes, clusters = (python_call_of(files[f"visits_recoding_{n}.py"]) for n in (3, 4, 5))
    assert (means["recoding"], means["method"], means["least"]) == ("grouped_recoding", "mdav", 8)
    assert (means["numbers"], means["p_percent"], means["k"]) == ("mean", 20.0, 8)
    assert means["quasi_identifiers"][0]["kind"] == "interval"
    assert (modes["method"], modes["numbers"], modes["categories"]) == (
        "mondrian",
        "median",
        "mode",
    )
    assert not {"least", "p_percent"} & modes.keys()
    assert (clusters["method"], clusters["least"]) == ("systematic", 9)
    assert (clusters["halve"], clusters["numbers"]) == (True, "interval")
    assert "passes" not in clusters
    assert clusters["merge"]
    assert "merge" not in means
    of_classes = call_of(files["visits_classes.sql"])[1]["efforts"]
    assert [n for n, effort in of_classes.items() if effort.get("has_modes")] == [4]
    assert call_of(files["visits_anonymized.sql"])[1]["with_modes"] == [4]
    scored = python_call_of(files["visits_evaluation.py"])["efforts"]
    assert [effort.get("has_means", False) for effort in scored] == [
        False,
        False,
        False,
        True,
        True,
        False,
    ]
    assert [n for n, effort in enumerate(scored) if effort.get("has_modes")] == [4]


def test_a_recoded_effort_has_a_model_of_its_own() -> None:
    files = files_of(rich())
    local = python_call_of(files["visits_recoding_3.py"])
    assert local["recoding"] == "local_recoding"
    assert local["rounds"] == [{"age": 1, "city": 1}, {"age": 3, "city": 2}]
    assert local["k"] == 8
    mondrian = python_call_of(files["visits_recoding_4.py"])
    assert (mondrian["recoding"], mondrian["strict"]) == ("multidimensional_recoding", False)
    assert mondrian["has_subject"]
    cells = python_call_of(files["visits_recoding_5.py"])
    assert (cells["recoding"], cells["importance"]) == ("cell_suppression", {"age": 2.0})
    efforts = call_of(files["visits_classes.sql"])[1]["efforts"]
    assert efforts[2] == {"levels": {"age": 2, "city": 1}, "k": 7}
    assert efforts[3] == {
        "recoding": "ref visits_recoding_3",
        "microdata": "ref visits_microdata",
        "k": 8,
    }
    assert call_of(files["visits_effort_4.sql"])[1]["recoding"] == "ref visits_recoding_4"
    assert "visits_recoding_2.sql" not in files
    scored = python_call_of(files["visits_evaluation.py"])["efforts"]
    assert [effort["levels"] for effort in scored[2:]] == [
        {"age": 2, "city": 1},
        *["per record"] * 3,
    ]


@pytest.mark.needs("payouts")
def test_payouts_choose_the_labels_of_records() -> None:
    content = rich()
    del content["subject"]
    paid = {"recoding": "local", "rounds": [{"age": 0, "city": 1}, {"age": 3, "city": 1}]}
    amounts = {"publisher_benefit": 10, "publisher_loss": 5}
    content["efforts"] = [
        {**paid, "maximize": "publisher_payout", "guarantees": {"profitable": amounts}}
    ]
    content["guarantees"] = {"k_anonymity": {"k": 5}}
    given = python_call_of(files_of(content)["visits_recoding_1.py"])
    assert given["recoding"] == "payout_recoding"
    assert given["rounds"] == paid["rounds"]
    assert given["guarantees"][-1]["publisher_loss"] == 5

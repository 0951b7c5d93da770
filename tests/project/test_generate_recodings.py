"""The models of recodings that follow from a spec."""

from __future__ import annotations

from tests.project.test_generate import call_of, files_of, python_call_of
from tests.spec.declarations import rich


def test_groups_that_need_python_have_a_model_of_their_own() -> None:
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
        {"recoding": "clustering", "cluster_size": 9, "halve": True},
    ]
    files = files_of(content)
    name, given = call_of(files["visits_recoding_3.sql"])
    assert name == "grouped_recoding"
    assert given["groups"] == "ref visits_groups_3"
    assert (given["numbers"], given["p_percent"]) == ("mean", 20.0)
    assert '"kind": "interval"' in files["visits_groups_3.py"]
    assert "k=8" in files["visits_groups_3.py"]
    assert "groups" not in call_of(files["visits_recoding_4.sql"])[1]
    assert "visits_groups_4.py" not in files
    assert call_of(files["visits_recoding_4.sql"])[1]["categories"] == "mode"
    of_classes = call_of(files["visits_classes.sql"])[1]["efforts"]
    assert [n for n, effort in of_classes.items() if effort.get("has_modes")] == [4]
    assert call_of(files["visits_anonymized.sql"])[1]["with_modes"] == [4]
    clusters = files["visits_groups_5.py"]
    assert "k=9" in clusters
    assert "halve=True" in clusters
    assert "passes" not in clusters
    assert call_of(files["visits_recoding_5.sql"])[1]["numbers"] == "interval"
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
    recoding = {number: call_of(files[f"visits_recoding_{number}.sql"]) for number in (3, 4)}
    assert recoding[3][0] == "local_recoding"
    assert recoding[3][1]["rounds"] == [{"age": 1, "city": 1}, {"age": 3, "city": 2}]
    assert recoding[3][1]["k"] == 8
    assert recoding[4][0] == "multidimensional_recoding"
    assert recoding[4][1]["strict"] is False
    suppression, given = call_of(files["visits_recoding_5.sql"])
    assert (suppression, given["importance"]) == ("cell_suppression", {"age": 2.0})
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


def test_payouts_choose_the_labels_of_records() -> None:
    content = rich()
    del content["subject"]
    paid = {"recoding": "local", "rounds": [{"age": 0, "city": 1}, {"age": 3, "city": 1}]}
    amounts = {"publisher_benefit": 10, "publisher_loss": 5}
    content["efforts"] = [
        {**paid, "maximize": "publisher_payout", "guarantees": {"profitable": amounts}}
    ]
    content["guarantees"] = {"k_anonymity": {"k": 5}}
    macro, given = call_of(files_of(content)["visits_recoding_1.sql"])
    assert macro == "payout_recoding"
    assert given["rounds"] == paid["rounds"]
    assert given["guarantees"][-1]["publisher_loss"] == 5

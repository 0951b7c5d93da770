import json

import pytest
from typer.testing import CliRunner

from dbt_anonymize.extensions.hierarchy_builders.commands.hierarchy import app
from dbt_anonymize.extensions.hierarchy_builders.reading import read_hierarchy
from dbt_anonymize.extensions.hierarchy_builders.rules import is_nested

pytestmark = pytest.mark.costly

runner = CliRunner()


@pytest.fixture
def data(tmp_path):
    file = tmp_path / "people.csv"
    rows = [f"{code:05d},{10 + code % 60},{'abc'[code % 3]}" for code in range(120)]
    file.write_text("\n".join(["zip,age,kind", *rows]) + "\n", encoding="utf-8")
    return file


def run(*arguments):
    return runner.invoke(app, [str(argument) for argument in arguments])


COMMANDS = {
    "intervals": ["--lower", "-10", "--upper", "50", "--widths", "5,15", "--merge", "2"],
    "intervals ": ["--cuts", "0,18,40,65,120", "--merge", "2"],
    "quantiles": [
        "--from",
        "DATA",
        "--column",
        "age",
        "--lower",
        "0",
        "--upper",
        "120",
        "--leaves",
        "8",
        "--decimals",
        "0",
    ],
    "groups": ["--from", "DATA", "--column", "kind", "--sizes", "2"],
    "groups ": ["--group", "vowel=a", "--group", 'other=b,"c"'],
    "redaction": ["--from", "DATA", "--column", "zip", "--counts", "1,3"],
    "redaction ": ["--alphabet", "ab", "--length", "3", "--prefix", "--symbol", "#"],
    "dates": ["--first", "2023-05-01", "--last", "2024-05-01"],
    "priority": ["--from", "DATA", "--column", "kind"],
    "priority ": ["--from", "DATA", "--column", "kind", "--in-order", "--levels", "2"],
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_writes_a_hierarchy_that_passes_the_check(tmp_path, data, command):
    output = tmp_path / "hierarchy.csv"
    options = [str(data) if option == "DATA" else option for option in COMMANDS[command]]
    result = run(command.strip(), *options, "--output", output)
    assert result.exit_code == 0, result.output
    assert f"{read_hierarchy(output).levels} levels, nested." in result.stdout
    assert run("check", output).exit_code == 0


def test_an_arx_file_is_imported_as_categories_or_intervals(tmp_path):
    file, output = tmp_path / "arx.csv", tmp_path / "hierarchy.csv"
    file.write_text("1;low;*\n2;low;*\n3;high;*\n", encoding="utf-8")
    assert run("import-arx", file, "-o", output).exit_code == 0
    assert read_hierarchy(output).values == ("1", "2", "3")
    assert run("import-arx", file, "-o", output, "--as-intervals", "--force").exit_code == 0
    assert read_hierarchy(output).labels[0] == ("low", "high")


def test_a_replaced_file_with_other_levels_must_be_loaded_anew(tmp_path):
    output = tmp_path / "ages.csv"
    arguments = ("intervals", "--cuts", "0,1,2,3,4", "-o", output)
    told = "dbt seed --full-refresh --select ages"
    assert told not in run(*arguments).stdout
    assert told not in run(*arguments, "--force").stdout
    assert told in run(*arguments, "--merge", "2", "--force").stdout
    assert told not in run(*arguments, "--merge", "2", "--force").stdout
    assert told in run("groups", "--group", "a=b,c", "-o", output, "--force").stdout
    output.write_text("not a hierarchy\n", encoding="utf-8")
    assert told in run(*arguments, "--force").stdout
    output.write_bytes(b"\xff\xfe")
    result = run(*arguments, "--force")
    assert result.exit_code == 0
    assert told not in result.stdout


def test_an_existing_file_is_replaced_only_by_force(tmp_path):
    output = tmp_path / "hierarchy.csv"
    output.write_text("mine", encoding="utf-8")
    refused = run("intervals", "--cuts", "0,1,2", "-o", output)
    assert refused.exit_code == 2
    assert "exists and is kept" in refused.stderr
    assert output.read_text(encoding="utf-8") == "mine"
    assert run("intervals", "--cuts", "0,1,2", "-o", output, "--force").exit_code == 0


def test_a_hierarchy_that_is_not_nested_is_announced(tmp_path):
    output = tmp_path / "hierarchy.csv"
    options = ["--lower", "0", "--upper", "36", "--widths", "1,2,3", "-o", output]
    assert "not nested: declare nested: false" in run("intervals", *options).stdout
    assert not is_nested(read_hierarchy(output, nested=False))
    assert run("check", output).exit_code == 1
    assert run("check", output, "--no-nested").exit_code == 0


def test_check_reports_every_file_and_ends_with_the_worst_code(tmp_path):
    good, broken = tmp_path / "good.csv", tmp_path / "broken.csv"
    good.write_text("value,level_1\na,*\n", encoding="utf-8")
    broken.write_text("value,level_1\nsecret,*\nsecret,x\n", encoding="utf-8")
    result = run("check", good, broken)
    assert result.exit_code == 1
    assert "ok" in result.stdout
    assert "values are unique (1 row, line 3)" in result.stdout
    assert "the top level is the root * (1 row, line 3)" in result.stdout
    assert "secret" not in result.stdout
    assert run("check", good, broken, tmp_path / "absent.csv").exit_code == 2
    result = run("check", good, broken, "--format", "json")
    assert result.exit_code == 1
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(row["file"], row["levels"]) for row in rows] == [
        (str(good), 1),
        *[(str(broken), 1)] * 2,
    ]
    assert [row["broken_rule"] is None for row in rows] == [True, False, False]
    assert "secret" not in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["intervals"], "either --cuts, or --lower"),
        (["intervals", "--cuts", "0,1", "--lower", "0"], "either --cuts, or --lower"),
        (["intervals", "--cuts", "0,x"], "a cut point must be a finite number"),
        (["intervals", "--cuts", "0,1,2,3", "--merge", "x"], "--merge must be whole numbers"),
        (["groups"], "either --group, or --from"),
        (["groups", "--group", "vowels"], "NAME=A,B,C"),
        (["redaction", "--length", "3"], "either --from and --column"),
        (["dates", "--first", "2024-01-01", "--last", "2023-01-01"], "first not after"),
        (["priority", "--from", "absent.csv", "--column", "x"], "must be a readable file"),
        (["import-arx", "absent.csv", "--delimiter", ";;"], "one character"),
    ],
)
def test_bad_input_ends_with_code_2_and_writes_nothing(tmp_path, arguments, message):
    output = tmp_path / "hierarchy.csv"
    result = run(*arguments, "--output", output)
    assert result.exit_code == 2
    assert message in result.stderr
    assert not output.exists()


def test_a_folder_that_does_not_exist_is_named(tmp_path):
    result = run("intervals", "--cuts", "0,1", "--output", tmp_path / "absent" / "x.csv")
    assert result.exit_code == 2
    assert "must exist" in result.stderr

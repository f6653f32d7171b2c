# `make` opens the tour (or, without a browser, writes it as a report); `make test` runs every check.
# Nothing is installed outside this folder, but Chromium for the browser tests (scripts/chromium.sh).
PYTHON ?= python3
BIN := .venv/bin
UV  := .venv/.uv/bin/uv
TOUR := notebooks/00_tour.ipynb

.DEFAULT_GOAL := tour
.PHONY: tour lab demo test check unit notebooks outputs peers peers-test browser docs screenshots bench constraints clean

tour: .venv/.ready   ## open the tour in JupyterLab; a terminal without a browser gets the report
	@$(BIN)/python scripts/tour.py $(TOUR)

lab: .venv/.ready    ## open the tour in JupyterLab, whatever the terminal looks like
	@$(BIN)/python scripts/tour.py --lab $(TOUR)

demo: .venv/.ready   ## execute the tour and write a report anybody can read
	@$(BIN)/python scripts/tour.py --report $(TOUR)

test: check unit notebooks peers-test browser   ## everything CI runs

check: .venv/.ready  ## style, types, layers, file sizes
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/loq

unit: .venv/.ready
	$(BIN)/python -m pytest -q -rs tests --ignore tests/browser --ignore tests/peers

notebooks: .venv/.ready
	$(BIN)/python -m pytest -q --nbval --nbval-sanitize-with tests/sanitize.cfg -W default notebooks

outputs: .venv/.ready  ## run the notebooks and save them with what came out
	$(BIN)/python scripts/outputs.py notebooks/*.ipynb

peers: .venv/.ready  ## install the public MCP servers and the conformance suite
	sh scripts/chromium.sh
	$(BIN)/python scripts/peers.py

peers-test: .venv/.ready
	sh scripts/chromium.sh
	-$(BIN)/python scripts/peers.py     # what is missing afterwards, the tests say
	$(BIN)/python -m pytest -q -rs tests/peers

browser: .venv/.ready
	sh scripts/chromium.sh
	$(BIN)/python -m pytest -q tests/browser

docs: .venv/.ready   ## write what is made from docstrings and tests
	$(BIN)/python scripts/reference.py
	$(BIN)/python scripts/front_ends.py

screenshots: .venv/.ready  ## take the pictures of the documents from the real thing
	sh scripts/chromium.sh
	$(BIN)/python scripts/screenshots.py

bench: .venv/.ready   ## measure everything beside the peers, write bench/RESULTS.md
	sh scripts/chromium.sh
	$(BIN)/python bench/run.py

constraints: .venv/.ready   ## resolve the newest versions of everything (no download hosts in the file)
	$(UV) pip compile -q --universal --upgrade --no-annotate --no-header --all-extras --group dev pyproject.toml -o constraints.txt

.venv/.ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(v < (3, 11) and "toolbench needs Python 3.11 or newer, this is %d.%d: make PYTHON=/path/to/python3.11" % v[:2])'
	@# the interpreter itself: a version switcher in front of it may have ideas of its own about pip
	"$$($(PYTHON) -c 'import sys; print(sys.executable)')" -m pip install -q --disable-pip-version-check --upgrade --target .venv/.uv uv
	$(UV) venv -q --allow-existing --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')" .venv
	$(UV) pip install -q --python $(BIN)/python -c constraints.txt -e '.[browser,cli,demo,pandas,ripgrep,tokens,web]' --group dev
	@touch $@

clean:
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

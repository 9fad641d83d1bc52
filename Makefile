# Two commands on a bare machine with Python 3.11 or later: `make up` to see it work, `make test` to prove it.
# The work is done by .ci/bootstrap.py, as make cannot handle a path with a space.

PYTHON ?= python3
BOOTSTRAP = @command -v $(PYTHON) >/dev/null 2>&1 || \
	{ echo "make: $(PYTHON) was not found; install Python 3.11 or later, or name it: make $@ PYTHON=/path/to/python3" >&2; exit 2; }; \
	exec $(PYTHON) .ci/bootstrap.py

.PHONY: help up test lint clean

help: ## show this list
	@grep -E '^[a-z]+: ##' Makefile | sed 's/^\([a-z]*\): ## \(.*\)/  make \1	\2/'
	@echo '  Options go in ARGS, e.g.: make up ARGS="--port 9000"   make test ARGS="-k breaker"'

up: ## run everything here: database, API, workers, sandbox provider; Ctrl-C stops it
	$(BOOTSTRAP) up $(ARGS)

test: ## run the whole test suite on a PostgreSQL of its own
	$(BOOTSTRAP) test $(ARGS)

lint: ## check style, types and the direction of imports
	$(BOOTSTRAP) lint

clean: ## delete the virtual environment and caches; the data in .data stays
	$(BOOTSTRAP) clean

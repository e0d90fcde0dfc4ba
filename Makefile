# pyasync: the targets are listed by `make help`.
CFLAGS ?= -O3 -g
PREFIX ?= /usr/local
DESTDIR ?=
PYTHON ?= /usr/bin/python3
ROOT ?= build/root
BENCH_TASKS ?= 10000 100000 1000000

STANDARD = -std=c17 -D_GNU_SOURCE
WARNINGS = -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla
SANITIZE = -g -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined
LIBRARY = gdb/pyasync_gdb/libpyasync.so
SOURCES = $(wildcard src/*.c)
HEADERS = $(wildcard src/*.h)
OBJECTS = $(SOURCES:src/%.c=build/obj/%.o)
UNIT = $(wildcard tests/unit/*.c)
INSTALLED = $(DESTDIR)$(PREFIX)/share/pyasync

.PHONY: all
all: $(LIBRARY)  ## build libpyasync.so into gdb/pyasync_gdb/ (the default)

$(LIBRARY): $(OBJECTS) src/pyasync.map
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,--version-script=src/pyasync.map -Wl,-z,defs -o $@.new $(OBJECTS)
	mv $@.new $@

build/obj/%.o: src/%.c $(HEADERS)
	@mkdir -p build/obj
	$(CC) $(STANDARD) $(WARNINGS) $(CFLAGS) -fPIC -fvisibility=hidden -c -o $@ $<

.PHONY: install
install: all  ## install the folder gdb/ as PREFIX/share/pyasync, and PREFIX/bin/pyasync (DESTDIR is honoured)
	install -d "$(INSTALLED)/pyasync_gdb" "$(INSTALLED)/pyasync_launcher" "$(DESTDIR)$(PREFIX)/bin"
	install -m 644 gdb/pyasync.py "$(INSTALLED)"
	install -m 644 gdb/pyasync_launcher/*.py "$(INSTALLED)/pyasync_launcher"
	install -m 755 gdb/pyasync "$(INSTALLED)"
	ln -sf ../share/pyasync/pyasync "$(DESTDIR)$(PREFIX)/bin/pyasync"
	install -m 644 gdb/pyasync_gdb/*.py "$(INSTALLED)/pyasync_gdb"
	install -m 755 $(LIBRARY) "$(INSTALLED)/pyasync_gdb"
	@echo 'Add to ~/.gdbinit:  source $(PREFIX)/share/pyasync/pyasync.py'

.PHONY: uninstall
uninstall:  ## remove what `make install` installed
	rm -rf "$(INSTALLED)"
	rm -f "$(DESTDIR)$(PREFIX)/bin/pyasync"

.PHONY: demo
demo:  ## build, and print the graph of the sample core in corefiles/ (installs what is missing, as root)
	tests/demo

.PHONY: check
check:  ## everything that CI runs: packages, test root, linters, unit tests, end-to-end tests
	tests/check

.PHONY: check-long
check-long:  ## what `make check` leaves out for its length
	tests/check --long

.PHONY: lint
lint:  ## formatting and static analysis
	tests/lint

.PHONY: format
format:  ## format the C sources
	clang-format -i $(SOURCES) $(filter-out src/printable.h,$(HEADERS)) $(wildcard tests/unit/*.[ch] tests/fuzz/*.c)

.PHONY: clang
clang:  ## compile the library with clang too
	@for source in $(SOURCES); do clang $(STANDARD) $(WARNINGS) -O2 -fPIC -c -o /dev/null $$source || exit 1; done

build/unit-tests: $(UNIT) $(wildcard tests/unit/*.h) $(SOURCES) $(HEADERS)
	@mkdir -p build
	$(CC) $(STANDARD) $(WARNINGS) $(CFLAGS) -Isrc -o $@ $(UNIT) $(SOURCES) $$(pkg-config --cflags --libs check)

build/unit-tests-sanitized: $(UNIT) $(wildcard tests/unit/*.h) $(SOURCES) $(HEADERS)
	@mkdir -p build
	clang $(STANDARD) $(WARNINGS) $(SANITIZE) -Isrc -o $@ $(UNIT) $(SOURCES) $$(pkg-config --cflags --libs check)

.PHONY: unit
unit: build/unit-tests build/unit-tests-sanitized  ## the unit tests, plain (gcc) and with sanitizers (clang)
	build/unit-tests
	CK_TIMEOUT_MULTIPLIER=10 build/unit-tests-sanitized

.PHONY: e2e
e2e: all root  ## the end-to-end tests
	$(PYTHON) -m pytest -n 2 tests/e2e

.PHONY: root
root:  ## the test root with its interpreters and GDB, made once
	tests/make-root $(ROOT)

# Without UBSan's checks for null pointers, which AddressSanitizer finds when they are used.
build/fuzz-session: $(wildcard tests/fuzz/*.[ch]) tests/unit/wellformed.h $(SOURCES) $(HEADERS)
	@mkdir -p build
	clang $(STANDARD) -g -O2 -fno-omit-frame-pointer -fsanitize=fuzzer,address,undefined -fno-sanitize=null -fno-sanitize-coverage=trace-cmp -fno-sanitize-recover=undefined -Isrc -o $@ $(wildcard tests/fuzz/*.c) $(SOURCES)

.PHONY: fuzz
fuzz: build/fuzz-session root  ## mutate real memory under the library for FUZZ_SECONDS (600) or FUZZ_RUNS executions
	tests/fuzz/run

.PHONY: bench
bench: all root  ## speed and memory on cores of BENCH_TASKS tasks, and live
	tests/bench/run $(BENCH_TASKS)

.PHONY: sample-core
sample-core: root  ## make the sample core in corefiles/ anew
	corefiles/make-sample

.PHONY: clean
clean:  ## remove what was built, but not the test root
	rm -rf build/obj build/unit-tests build/unit-tests-sanitized build/fuzz-session $(LIBRARY)

.PHONY: help
help:  ## this list
	@sed -n 's/^\([a-z0-9-]*\):[^#]*##  *\(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

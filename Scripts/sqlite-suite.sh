#!/usr/bin/env bash
# The sealing file system under programs in C. Two of our own: every call below and every allocation fails in turn, under
# the address sanitizer; power is cut at every write. SQLite's, from Debian's source package: mptest (several processes,
# with crashes), speedtest1 (the same answers as plain SQLite, and the ratio of their CPU times), fuzzcheck (its corpora
# through real files) and, where tcl-dev is installed, those scripts of its TCL suite that do not look at raw bytes. Needs
# deb-src in apt's sources, or SQLITE_SOURCE with an unpacked tree; `--keep` keeps the folder.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD

folder=$(mktemp -d)
[ "${1:-}" = --keep ] || trap 'rm -rf "$folder"' EXIT

source=${SQLITE_SOURCE:-}
if [ -z "$source" ]; then
    (cd "$folder" && apt-get source -qq --download-only sqlite3 && mkdir source &&
        tar -xf sqlite3_*.orig.tar.* --strip-components 1 -C source)
    source=$folder/source
fi

echo 'sqlite-suite: building' >&2
swift build -c release --target CordonAEADShim
objects=$(swift build -c release --show-bin-path)/CCryptoBoringSSL.build
(
    cd "$folder"
    cc -O2 -c -I"$root/Sources/CordonSQLiteShim/include" -I"$root/Sources/CordonAEADShim/include" \
        "$root"/Sources/CordonSQLiteShim/*.c "$root"/Sources/CordonAEADShim/*.c
    # Alone, so that no linker leaves it out: it makes the file system the default before main.
    cc -O2 -c -o host.o -I"$root/Sources/CordonSQLiteShim/include" -I"$root/Sources/CordonAEADShim/include" \
        "$root/Tests/SQLiteSuite/host.c"
    ar rc sealed.a aead.o memory.o blocks.o databases.o key.o log.o map.o methods.o vfs.o
    # One object and no archive: the shim's names are weak, and for those a linker takes nothing out of an archive.
    find "$objects" -name '*.o' -print0 | xargs -0 ld -r -o cipher.o
    cc -O2 -o power "$root/Tests/SQLiteSuite/power.c" host.o sealed.a cipher.o -lsqlite3 -lpthread -lm -ldl -lstdc++
    # Only the shim's own allocations are to fail, hence renamed in its objects alone.
    mkdir checked && cd checked
    checks='-g -O1 -fsanitize=address,undefined'
    cc $checks -c -I"$root/Sources/CordonSQLiteShim/include" -I"$root/Sources/CordonAEADShim/include" \
        "$root"/Sources/CordonSQLiteShim/*.c "$root"/Sources/CordonAEADShim/*.c "$root/Tests/SQLiteSuite/host.c"
    for object in blocks databases key log map methods vfs; do
        objcopy --redefine-sym malloc=__wrap_malloc --redefine-sym calloc=__wrap_calloc --redefine-sym free=__wrap_free \
            --redefine-sym realloc=__wrap_realloc --redefine-sym strdup=__wrap_strdup $object.o
    done
    cc $checks -D__real_malloc=malloc -D__real_calloc=calloc -D__real_realloc=realloc -D__real_free=free -o ../faults -w \
        -I"$root/Sources/CordonSQLiteShim/include" \
        "$root/Tests/SQLiteSuite/faults.c" ./*.o ../cipher.o -lsqlite3 -lpthread -lm -ldl -lstdc++
    cd ..
    link() { cc -O2 -w -o "$1" "${@:2}" host.o sealed.a cipher.o -lsqlite3 -lpthread -lm -ldl -lstdc++; }
    link mptest "$source/mptest/mptest.c"
    link speedtest1 "$source/test/speedtest1.c"
    link fuzzcheck -DSQLITE_CORE -I"$source/ext/recover" "$source"/test/{fuzzcheck,ossfuzz,fuzzinvariants}.c \
        "$source"/ext/recover/sqlite3recover.c "$source"/ext/recover/dbdata.c "$source"/test/vt02.c ||
        echo 'sqlite-suite: fuzzcheck does not build with this SQLite' >&2
    if [ -f /usr/include/tcl8.6/tcl.h ]; then
        cc -O2 -c "$root/Tests/SQLiteSuite/default.c"
        mkdir tcl && cd tcl && "$source/configure" --with-tcl=/usr/lib/tcl8.6 >configure.log
        # Pages as large as the blocks of the sealing file system's journals, as SQLite chooses them over it.
        sed -i 's/SQLITE_DEFAULT_PAGE_SIZE=1024/SQLITE_DEFAULT_PAGE_SIZE=4096/' Makefile
        make testfixture OPTS=-DSQLITE_EXTRA_INIT=cordon_default \
            LIBTCL="-ltcl8.6 $folder/host.o $folder/default.o $folder/sealed.a $folder/cipher.o -lstdc++ -lz -lpthread -ldl -lm" \
            >make.log 2>&1
    fi
)

work=$(mktemp -d "$([ -d /dev/shm ] && echo /dev/shm || echo /tmp)/cordon-suite-XXXXXX")
cleanup() { rm -rf "$work"; [ "${1:-}" = --keep ] || rm -rf "$folder"; }
trap 'cleanup "${1:-}"' EXIT
cd "$work"

# Where the time is not measured, databases are mapped from the first read on.
export CORDON_MAP_AFTER=1
ASAN_OPTIONS=detect_leaks=0 "$folder/faults"
"$folder/power" "${CORDON_STATES:-30}"

# In a forced log mode config01 and config02 do not pass on plain SQLite either, and fail alike here.
for run in multiwrite01 'multiwrite01 --journalmode wal' crash01 'crash01 --journalmode wal' config01 config02; do
    read -r test options <<<"$run"
    printf 'mptest %s: ' "$run"
    # shellcheck disable=SC2086
    "$folder/mptest" t.db $options "$source/mptest/$test.test" | grep '^Summary: 0 errors'
    head -c 8 t.db | grep -q CORDONSD
    rm -f t.db*
done

unset CORDON_MAP_AFTER
seconds() { ( TIMEFORMAT='%U %S'; { time "$@" >"$work/out" 2>&1; } 2>&1 | awk '{print $1 + $2}' ); }
for options in "" "--journal wal" "--journal wal --cachesize 512" "--pagesize 1024" "--pagesize 65536"; do
    ratios=()
    for _ in 1 2 3 4 5; do
        rm -f plain.db* sealed.db*
        plain=$(CORDON_PLAIN=1 seconds "$folder/speedtest1" --verify --size 40 $options plain.db)
        answers=$(grep 'Verification Hash' out)
        sealed=$(seconds "$folder/speedtest1" --verify --size 40 $options sealed.db)
        [ "$answers" = "$(grep 'Verification Hash' out)" ] || { echo 'speedtest1: other answers than plain SQLite'; exit 1; }
        head -c 8 sealed.db | grep -q CORDONSD
        ratios+=("$(awk -v a="$sealed" -v b="$plain" 'BEGIN {printf "%.3f", a / b}')")
    done
    echo "speedtest1 ${options:-(default)}: same answers, CPU $(printf '%s\n' "${ratios[@]}" | sort -n | sed -n 3p) of plain (${ratios[*]})"
done

export CORDON_MAP_AFTER=1
if [ -x "$folder/fuzzcheck" ]; then
    for corpus in "$source"/test/fuzzdata{1,2,3,4}.db; do
        printf 'fuzzcheck %s: ' "$(basename "$corpus")"
        # The corpus itself is plain; every database that a case makes goes through the sealing file system.
        rm -f main.db*
        CORDON_PASS=1 "$folder/fuzzcheck" --native-vfs --timeout 60000 "$corpus" 2>&1 | tail -n 2 | head -n 1
        [ "${PIPESTATUS[0]}" -eq 0 ] || { echo 'fuzzcheck: failed'; exit 1; }
    done
fi
if [ -x "$folder/tcl/testfixture" ]; then
    "$root/Tests/SQLiteSuite/scripts.py" "$folder/tcl/testfixture" "$source/test"
else
    echo 'sqlite-suite: no tcl-dev, so SQLite'\''s scripts are left out' >&2
fi
echo 'sqlite-suite: done'

#!/bin/sh
# Checks nist_fit as a user meets it: check.sh PROGRAM DATA_DIRECTORY
#
# The certified values of NIST are the oracle of the fits. Every kind of bad input must give exactly one line on stderr
# that says what is wrong, nothing on stdout, and the exit status given here.
set -u
program=$1
data=$2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failures=0

# What Meson runs programs of another machine by stands before the program.
run() {
    ${MESON_EXE_WRAPPER-} "$program" "$@"
}

complain() {
    echo "FAILED: $*" >&2
    failures=$((failures + 1))
}

# rejects STATUS TEXT ARGUMENTS...: TEXT is part of the one line.
rejects() {
    status=$1 text=$2
    shift 2
    run "$@" >"$work/out" 2>"$work/err"
    got=$?
    [ $got -eq "$status" ] || complain "$*: exit status $got, not $status"
    [ "$(wc -l <"$work/err")" -eq 1 ] || complain "$*: not one line: $(cat "$work/err")"
    [ -s "$work/out" ] && complain "$*: printed something"
    grep -qF -- "$text" "$work/err" || complain "$*: '$text' is not in: $(cat "$work/err")"
}

# broken SCRIPT SET: the data set with the sed script applied, as $work/broken.dat. It must differ from the original.
broken() {
    sed "$1" "$data/$2.dat" >"$work/broken.dat"
    cmp -s "$data/$2.dat" "$work/broken.dat" && complain "the script '$1' changes nothing in $2"
}

# ---- bad files ----
rejects 1 "No such file" "$work/absent.dat"
: >"$work/empty.dat"
rejects 1 "no header entry 'Dataset Name:'" "$work/empty.dat"
printf 'Dataset Name: \000\n' >"$work/zero.dat"
rejects 1 "not a text file" "$work/zero.dat"
broken 's/Dataset Name:  MGH09/Dataset Name:  Other/' MGH09
rejects 1 "unknown model 'Other'" "$work/broken.dat"
broken '18s/.*/1.5x 2/' Misra1a
rejects 1 ":18: broken number '1.5x'" "$work/broken.dat"
broken 's/^b1 = 500/b1 = 1e999/' Misra1a
rejects 1 "broken number '1e999'" "$work/broken.dat"
broken '18s/$/ 7/' Misra1a
rejects 1 ":18: 3 numbers in the row" "$work/broken.dat"
broken '18s/.*//' Misra1a
rejects 1 ":18: a response and a predictor are needed" "$work/broken.dat"
broken 's/(lines 16 to 29)/(lines 16 to 17)/' Misra1a
rejects 1 "too few points: 2 observations for 2 parameters" "$work/broken.dat"
broken '20,$d' Misra1a
rejects 1 "the file has only 19 lines" "$work/broken.dat"
broken 's/(lines 16 to 29)/(lines 29 to 16)/' Misra1a
rejects 1 "impossible line range" "$work/broken.dat"
broken 's/^Number of Observations:.*/Number of Observations: 99/' Misra1a
rejects 1 "99 observations are announced" "$work/broken.dat"
broken 's/^1.20E0 64E0/-1 64E0/' Nelson
rejects 1 "logarithm of a response" "$work/broken.dat"
broken 's/^b1 = 500/b1 = 0/; s/^b2 = 0.0001/b2 = 0/' Misra1a
rejects 1 "do not determine the parameters" --start 1 "$work/broken.dat"
broken 's/^b2 = 0.0001/b2 = -1e300/' Misra1a
rejects 1 "not finite" --start 1 "$work/broken.dat"

# ---- bad command lines ----
rejects 2 "usage"
rejects 2 "no such option" --fast "$data/MGH09.dat"
rejects 2 "a value is missing" "$data/MGH09.dat" --plot
rejects 2 "the start is 1 or 2" --start 3 "$data/MGH09.dat"
rejects 2 "only one file" "$data/MGH09.dat" "$data/MGH10.dat"
rejects 2 "no other argument" --all "$data" "$data/MGH09.dat"
rejects 1 "unknown model 'Other'" --model Other "$data/MGH09.dat"
rejects 1 "8 parameters" --model Gauss1 "$data/MGH09.dat"

# ---- good input ----
# A file as NIST publishes it: line ends of two characters, and prose in front, which moves the data by 9 lines.
awk '{ gsub(/16 to 29/, "25 to 38"); gsub(/9 to 14/, "18 to 23"); gsub(/9 to 10/, "18 to 19") }
     NR == 2 { print; for (i = 0; i < 9; i++) print "Description: prose, 1 to 2\r"; next } { print $0 "\r" }' \
    "$data/Misra1a.dat" >"$work/original.dat"
run "$work/original.dat" | sed 1d >"$work/out"
run --model Misra1a "$data/Misra1a.dat" | sed 1d | cmp -s - "$work/out" || complain "original and copy differ"

run --plot "$work/plot.svg" "$data/Nelson.dat" >/dev/null || complain "no plot"
[ "$(grep -c '<circle' "$work/plot.svg")" -eq 128 ] || complain "the plot lacks points"
[ "$(grep -c '<path clip-path' "$work/plot.svg")" -eq 4 ] || complain "the plot lacks a curve for each x2"
tail -n 1 "$work/plot.svg" | grep -q '</svg>' || complain "the plot is not complete"

run --all "$data" >"$work/all" || complain "a fit failed: $(cat "$work/all")"
grep '^start' "$work/all"
[ "$(grep -c '^start [12]: at least 9 digits of every parameter on 27 of 27 sets' "$work/all")" -eq 2 ] ||
    complain "digits are missing: $(cat "$work/all")"

[ $failures -eq 0 ]

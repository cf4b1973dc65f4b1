#!/bin/sh
# Checks bundle_adjust as a user meets it: check.sh PROGRAM
#
# The oracle of the fit is the noise that was put into the synthetic pictures: what remains of it is known in advance.
# That of the camera model is a picture worked out by hand. Every kind of bad input must give exactly one line on stderr
# that says what is wrong, and the exit status given here; nothing on stdout but what had come of good input before.
set -u
program=$1
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
    grep -qv ' cameras, \|^converged' "$work/out" && complain "$*: printed something"
    grep -qF -- "$text" "$work/err" || complain "$*: '$text' is not in: $(cat "$work/err")"
}

# broken TEXT SCRIPT: the small problem, changed by a sed script, must be rejected with TEXT.
broken() {
    sed "$2" "$work/small" >"$work/broken"
    cmp -s "$work/small" "$work/broken" && complain "the script '$2' changes nothing"
    rejects 1 "$1" "$work/broken"
}

# starts_at COST FILE: the cost that the problem has before anything is improved.
starts_at() {
    run --quiet --iterations 0 "$2" >"$work/out" || complain "$2 is not read"
    grep -q "^stopped after 0 iterations: cost $1 to $1, " "$work/out" || complain "not $1: $(cat "$work/out")"
}

# ---- the camera model ----
# Point (1, 2, -4), no rotation, no translation, focal length 100, k1 0.1, k2 0.01: p = (1/4, 1/2), |p|^2 = 5/16, and
# 100 (1 + 0.1 5/16 + 0.01 25/256) p = (25.8056640625, 51.611328125). Seen 3 and 4 pixels off, its cost is 25/2. A turn
# by a right angle around the third axis takes (x, y) to (-y, x); the translation takes a point back from (2, 1, -3).
cat >"$work/small" <<'END'
2 2 3
0 0 28.8056640625 55.611328125
1 0 -51.611328125 25.8056640625
0 1 25.8056640625 51.611328125
0 0 0
0 0 0
100 0.1 0.01
0 0 1.5707963267948966
0 0 0
100 0.1 0.01
1 2 -4
2 4 -8
END
starts_at 1.250000000000e+01 "$work/small"
sed '8s/.*/0 0 -4.71238898038469/' "$work/small" >"$work/turned"
starts_at 1.250000000000e+01 "$work/turned"
sed '6s/.*/-1 1 -1/; 11s/.*/2 1 -3/; 12s/.*/3 3 -7/; /^1 0/d; 1s/3/2/' "$work/small" >"$work/moved"
starts_at 1.250000000000e+01 "$work/moved"
# Small angles, of which the first two are on the series: a turn back takes the point to where the camera turns it from.
for angle in 0.001 0.03 0.04 1; do
    awk -v t=$angle 'BEGIN { print "1 1 1\n0 0 28.8056640625 55.611328125\n0 0 " t "\n0 0 0\n100 0.1 0.01"
        printf "%.17g %.17g -4\n", cos(t) + 2 * sin(t), 2 * cos(t) - sin(t) }' >"$work/angle"
    starts_at 1.250000000000e+01 "$work/angle"
done
tr '\n' '\t' <"$work/small" >"$work/line"
starts_at 1.250000000000e+01 "$work/line"
run "$work/small" >"$work/out" || complain "the small problem: $(cat "$work/out")"
# There are more unknowns than equations: a perfect fit, where the end must be seen in spite of rounding.
awk '/^converged after/ { found = $3 < 10 && $8 + 0 < 1e-19 } END { exit !found }' "$work/out" ||
    complain "no perfect fit: $(cat "$work/out")"
run "$work/line" | sed 1d >"$work/again"
sed 1d "$work/out" | cmp -s - "$work/again" || complain "line ends change the result"

# ---- the scene ----
run --write "$work/scene" --result "$work/result" >"$work/out" || complain "the scene: $(cat "$work/out")"
tail -n 2 "$work/out"
awk '/^converged after/ { rms = $(NF - 1) } /^expected/ { expected = $NF }
     END { exit !(expected > 0.4 && rms > 0.98 * expected && rms < 1.02 * expected) }' "$work/out" ||
    complain "the noise is not reached: $(tail -n 2 "$work/out")"
awk '$1 ~ /^[0-9]+$/ { if (rows++ && $2 > last) exit 1; last = $2 } END { exit rows < 4 }' "$work/out" ||
    complain "the cost went up, or there is no line for each iteration"
run "$work/scene" | grep -v '^/' >"$work/again"
sed '1d; $d' "$work/out" | cmp -s - "$work/again" || complain "the scene differs when it is read from a file"
cost=$(awk '/^converged/ { print $8 }' "$work/out")
run --quiet "$work/result" | grep -q "iterations: cost ${cost%,} to" ||
    complain "the result is not what came out"

# The order of observations is of no importance, and no camera or point needs to be seen.
counts=$(head -n 1 "$work/scene") observations=${counts##* }
{
    echo "17 2001 $observations"
    sed "1d; $((observations + 1))q" "$work/scene" | sort -r -k 3
    sed "1,$((observations + 1))d" "$work/scene" | sed '144a 0\n0\n0\n0\n0\n0\n500\n0\n0'
    echo 0 0 0
} >"$work/sorted"
run --quiet "$work/sorted" >"$work/again" || complain "the sorted scene: $(cat "$work/again")"
awk -v cost="${cost%,}" '/^converged/ { exit !($3 < 10 && ($8 - cost) / cost < 1e-9 && (cost - $8) / cost < 1e-9) }' \
    "$work/again" || complain "another order gives another cost: $(cat "$work/again")"

# ---- bad files ----
rejects 1 "No such file" "$work/absent"
rejects 1 "cannot be read" "$work"
: >"$work/empty"
rejects 1 ":1: counts: the file ends before the number of cameras" "$work/empty"
head -c 3000 "$program" >"$work/binary"
rejects 1 "the number of cameras is not a whole number" "$work/binary"
broken "the number of cameras is 0, not in 1 to 2000" '1s/2/0/'
broken "the number of cameras is 99999999, not in 1 to 2000" '1s/2/99999999/'
broken "the number of points is -2" '1s/ 2/ -2/'
broken "the number of observations is 0" '1s/3/0/'
broken "the number of observations is 99999999999999999999" '1s/3/99999999999999999999/'
broken ":13: observation 11: the file ends before the camera" '1s/3/2147483647/; 5,12s/.*/0 0 1 1/'
broken ":3: observation 1: the camera is 2, not in 0 to 1" '3s/1/2/'
broken ":2: observation 0: the camera is not a whole number: '0.0'" '2s/0/0.0/'
broken ":4: observation 2: the point is -1, not in 0 to 1" '4s/0 1/0 -1/'
broken ":3: observation 1: x is not a number: '51,6'" '3s/-51.611328125/51,6/'
broken ":3: observation 1: y is not finite: 'nan'" '3s/ 25.*/ nan/'
broken ":7: camera 0: focal length is not finite: '1e999'" '7s/100/1e999/'
broken ":8: camera 1: rotation 3 is not a number: '1.57x'" '8s/1.57.*/1.57x/'
broken ":12: point 1: z is not a number: '" '12s/-8/-8.00000000000000000000000000000000000000000000000000000000000000000/'
broken ":13: point 1: the file ends before z" '12s/-8//'
broken ":11: point 0: the file ends before x" '11,$d'
broken ":5: camera 0: the file ends before rotation 1" '5,$d'
broken ":13: end of the file: '7' stands behind the last point" '12s/$/\n7/'
broken "not finite; does a point lie at the level of a camera" '11s/-4/0/'
rejects 1 "No such file" --write "$work/absent/scene"
rejects 1 "No such file" --quiet --result "$work/absent/scene" "$work/small"

# ---- bad command lines ----
rejects 2 "no such option" --fast
rejects 2 "a value is missing" --iterations
rejects 2 "no number of iterations" --iterations many "$work/small"
rejects 2 "no number of iterations" --iterations -1 "$work/small"
rejects 2 "no seed" --seed 1x
rejects 2 "for the scene" --seed 2 "$work/small"
rejects 2 "only one file" "$work/small" "$work/small"

[ $failures -eq 0 ]

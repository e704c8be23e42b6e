#!/bin/sh
# test_pulses.sh - what lasts a thousandth of a run is not passed over, by grids at rest and moving, by their audits'
# samples and points: a push and a pulse of noise, each far shorter than a step, against the exact answer.
set -u

. "${GBEES_TOP_SRC:-$(dirname "$0")/../../../..}/tests/fixtures/shell_fixture.sh"
program=$programs/gbees-run
enter_scratch
clean_environment

# near LIMIT NAME=VALUE...: an oscillator's mean and deviations at t = 6, and the audit's bound of them.
near() {
    limit=$1
    shift
    what="$*"
    width=0.006 noise=0 sets=
    for setting; do
        case $setting in
        width=* | noise=*) eval "$setting" && sets="$sets --param $setting" ;;
        *) sets="$sets --set $setting" ;;
        esac
    done
    # shellcheck disable=SC2086 # $sets is a list
    "$program" --plugin-path "$top_build/tests/.libs" --plugin pulse --backend cpu --threads 1 --json --progress none \
        --no-output --param width="$width" $sets >out 2>err </dev/null || fail "exit status $?: $(tail -n 1 err)"
    grep '"event":"record"' out | tail -n 1 |
        sed 's/.*"mean":\[\([^]]*\)\].*"cov":\[\[\([^,]*\),[^]]*\],\[[^,]*,\([^]]*\)\]\].*/\1 \2 \3/; s/,/ /g' |
        awk -v width="$width" -v noise="$noise" -v limit="$limit" '
        function off(a, b) { return a > b ? a - b : b - a }
        {
            left = 2.7 - width / 2 # from the middle of the pulse on
            x = cos(6) + 2 * sin(left); v = -sin(6) + 2 * cos(left)
            xx = 0.25 + noise * sin(left) ^ 2; vv = 0.25 + noise * cos(left) ^ 2
            exit !(off($1, x) < limit * sqrt(xx) && off($2, v) < limit * sqrt(vv) && \
                   off(sqrt($3 / xx), 1) < limit && off(sqrt($4 / vv), 1) < limit)
        }' || fail "mean and deviations are off by more than $limit deviations: $(tail -n 3 out)"
    grep -q 'the audit says' err && fail "$(cat err)"
}

what="a velocity that is cos t everywhere, and so vanishes everywhere at once"
for factor in 1 2; do
    "$program" --plugin-path "$top_build/tests/.libs" --plugin advect --backend cpu --threads 1 --json --progress none \
        --no-output --param a1=0 --param beat=1 --set end=4 --set accuracy=0 --set factor=$factor >out 2>err </dev/null ||
        fail "exit status $?: $(tail -n 1 err)"
    grep '"event":"record"' out | tail -n 1 | sed 's/.*"mean":\[\([^],]*\).*/\1/' |
        awk -v factor=$factor '{ off = $1 - sin(4); exit !(off * off < (0.04 / factor ^ 2) ^ 2) }' ||
        fail "factor $factor: the mean is off by more than .04 / factor^2: $(tail -n 2 out)"
done

near 0.02 width=0.01
near 0.02 noise=1
near 0.02 noise=1 width=0.01
near 0.02 frame=moving
near 0.02 frame=moving noise=1
near 0.05 accuracy=0.05 noise=1
near 0.02 records=50 noise=1

exit $bad

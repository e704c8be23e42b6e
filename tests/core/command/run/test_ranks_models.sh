#!/bin/sh
# test_ranks_models.sh - all models to a short end, four of them with a measurement: the records of 2, 3, 5 and 8
# ranks are those of one, bit for bit. Long: `make check-long`.
set -u

. "${GBEES_TOP_SRC:-$(dirname "$0")/../../../..}/tests/fixtures/shell_fixture.sh"
program=$programs/gbees-run
enter_scratch
clean_environment

command -v h5diff >/dev/null || skip "there is no h5diff (Debian: apt-get install hdf5-tools)"
prepare_mpirun

# compare MODEL ARGUMENT...
compare() {
    model=$1
    shift
    for number in 1 2 3 5 8; do
        calls 0 timeout 300 mpirun -n "$number" "$program" --threads 1 --progress none --audit off --files records --quiet \
            --set accuracy=0 --output "$model.$number" --plugin "$model" "$@"
        for record in "$model".1/leg*.h5; do
            h5diff "$record" "$model.$number/${record#*/}" >difference 2>&1 ||
                fail "$record on $number ranks: $(head -n 5 difference)"
        done
    done
}

compare lorenz63 --until 1.25
compare lorenz63 --until 0.6 --set 'instants=[{time: 0.3, value: [1, 0, 0], covariance: [[0.1, 0.05, 0], [0.05, 0.1, 0], [0, 0, 0.1]]}]'
compare linear
compare duffing
compare aizawa --until 1
compare rossler --until 1
compare vanderpol
compare pendulum
compare unicycle --until 0.5
compare phase --until 5
compare pcr3bp --scenario published --until 0.05
compare poe2bp --until 1
compare lorenz96 --scenario published --until 0.1
compare cr3bp --until 0.01
exit "$bad"

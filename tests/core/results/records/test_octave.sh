#!/bin/sh
# test_octave.sh - Octave loads time series and records of a run.
set -u

. "${GBEES_TOP_SRC:-$(dirname "$0")/../../../..}/tests/fixtures/shell_fixture.sh"
octave=${GBEES_OCTAVE:-octave-cli}
enter_scratch
clean_environment
command -v "$octave" >/dev/null || skip "there is no octave-cli (Debian: octave)"
calls 0 "$programs/gbees-run" --backend cpu --threads 1 --progress none --plugin lorenz63 --scenario published --until 0.5 \
    --set records=2 --set 'measurements=[]' --audit off --output run --quiet
cat >check.m <<'END'
load("run/run.h5", "time", "mean", "covariance", "leg0");
record = leg0.record2;
assert(time(:)', [0 0.25 0.5]);
assert(size(covariance), [3 3 3]);
assert(size(record.pdf.index), [numel(record.pdf.p) 3]);
assert(isa(record.pdf.index, "int16") && sum(double(record.pdf.p)) > 0.9);
centre = record.grid.origin(:)' + double(record.pdf.index) .* record.grid.h(:)';
p = double(record.pdf.p(:));
assert(p' * centre / sum(p), mean(:, end)', 0.05);
assert(cellstr(record.grid.names), {"x"; "y"; "z"});
disp("loaded");
END
calls 0 "$octave" --no-gui --norc --quiet check.m
has out loaded
exit "$bad"

#!/bin/sh
# test_names.sh - no two headers give a name to two things (names.py), and planted ones are seen.
set -u

. "${GBEES_TOP_SRC:-$(dirname "$0")/../..}/tests/fixtures/shell_fixture.sh"
names=$top_src/tests/tree/names.py
command -v python3 >/dev/null || skip "there is no python3"
enter_scratch

python3 "$names" "$top_src" || bad=1

mkdir -p "$scratch/core/a" "$scratch/core/b"
cat > "$scratch/core/a/one.h" << 'EOT'
typedef struct gbees_thing gbees_thing; /* not described here */
typedef struct gbees_place {
    int at;
} gbees_place;
int gbees_count(const gbees_thing *thing);
EOT
cp "$scratch/core/a/one.h" "$scratch/core/b/other.h"
sed -i 's/gbees_place/gbees_spot/; s/gbees_count/gbees_number/' "$scratch/core/b/other.h"
python3 "$names" "$scratch" || fail "a structure that two headers have, and neither describes, is taken for two"
cp "$scratch/core/a/one.h" "$scratch/core/b/other.h"
python3 "$names" "$scratch" > "$scratch/log" && fail "two structures and two functions of one name are not seen"
for name in gbees_place gbees_count; do
    grep -q "^$name: .*core/a/one.h, .*core/b/other.h: give" "$scratch/log" || fail "$name is not told: $(cat "$scratch/log")"
done
exit "$bad"

#!/bin/sh
# test_circles.sh - no files of the tree include or call each other in a circle (circles.py), and a planted circle is
# seen.
set -u

. "${GBEES_TOP_SRC:-$(dirname "$0")/../..}/tests/fixtures/shell_fixture.sh"
circles=$top_src/tests/tree/circles.py
command -v python3 >/dev/null || skip "there is no python3"
enter_scratch

python3 "$circles" "$top_src" || bad=1

# plant FILE <<TEXT: a file of the tree in $scratch
plant()
{
    mkdir -p "$scratch/$1" && rmdir "$scratch/$1"
    cat > "$scratch/$1"
}

# expect STATUS TEXT: what circles.py finds in $scratch, which is emptied.
expect()
{
    status=0
    python3 "$circles" "$scratch" > "$scratch/log" 2>&1 || status=$?
    if test "$status" != "$1" || ! grep -qF "$2" "$scratch/log"; then
        fail "expected exit status $1 and \"$2\"; got $status and: $(cat "$scratch/log")"
    fi
    rm -rf "${scratch:?}"/*
}

# Includes.
echo '#include "base/b.h"' | plant core/base/a.h
echo '#include "a.h" /* its own folder */' | plant core/base/b.h
expect 1 'include circle of 2 files'

# Calls of exported functions, one of them over a third file.
plant core/base/all.h << 'EOT'
int a_one(int i);
int b_one(int i);
int c_one(int i);
EOT
for one in ab bc ca; do
    user=${one%?} used=${one#?}
    plant "core/base/$user.c" << EOT
#include "base/all.h"

int ${user}_one(int i)
{
    return ${used}_one(i);
}
EOT
done
expect 1 'core/base/c.c -> core/base/a.c: a_one'

# A pointer to a function; the other way by a header's static function.
plant core/base/a.h << 'EOT'
int b_one(int i);
static inline int a_inline(
    int i)
{
    int (*f)(int) = b_one;
    return f(i);
}
EOT
plant core/base/b.c << 'EOT'
#include "base/a.h"

int b_one(int i)
{
    return i ? a_inline(i - 1) : 0;
}
EOT
expect 1 'call circle of 2 files'

# No circle: comments, texts, members, functions of that name of another module, a file's own function.
plant core/base/a.h << 'EOT'
int b_one(int i);
int a_two(int i);
EOT
plant core/base/a.c << 'EOT'
#include "base/a.h"

int a_two(int i)
{
    return b_one(i);
}
EOT
plant core/base/b.c << 'EOT'
#include "base/a.h"

/* a_two(1) */
static const char text[] = "a_two(1)"; // a_two(1)

int b_one(int i)
{
    return text[i] + table->a_two(i) + table.a_two;
}
EOT
plant core/scenario/d.c << 'EOT'
static int a_two(int i)
{
    return i;
}

int d_two(int i)
{
    return a_two(i);
}
EOT
expect 0 ' 0 circles'

expect 2 'no sources'
exit "$bad"

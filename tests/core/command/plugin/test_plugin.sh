#!/bin/sh
# test_plugin.sh - gbees-plugin: new, build, check and run, in a home of its own; what goes wrong on the way; plugins
# that crash, never end or compute nonsense; a plugin in C++ and its twin in C.
set -u

. "${GBEES_TOP_SRC:-$(dirname "$0")/../../../..}/tests/fixtures/shell_fixture.sh"
program=$programs/gbees-plugin
unset GBEES_BACKEND_PATH CFLAGS CXXFLAGS MAKEFLAGS MFLAGS MAKELEVEL
enter_scratch
clean_environment
mkdir work none "$HOME" && cd work || exit 99
XDG_CACHE_HOME=$scratch/cache
export XDG_CACHE_HOME
installed=$HOME/.local/lib/gbees/plugins
# No GPU and no compiler for one, unless a test asks for it.
GBEES_CUDA_LIBRARY_PATH=$scratch/none
export GBEES_CUDA_LIBRARY_PATH

# run CODE ARGUMENT...
run() {
    wanted=$1
    shift
    calls "$wanted" "$program" "$@"
}

# refused TEXT: one line on standard error, which begins with the program's name.
refused() {
    has err "$1"
    lines err 1
    grep -q '^gbees-plugin: ' err || fail "it does not begin with the program's name"
}

# failed CHECK TEXT: that check failed for that reason, and no other did.
failed() {
    grep -E "^$1 +FAILED: " out | grep -qF -- "$2" || fail "no '$1 FAILED: ... $2'"
    grep -q ' FAILED 1$' out || fail "not just one check failed"
    lines err 0
}

# Options with which a model compiles in a quarter of the time, for one kind of processor; of some sixty that are compiled
# here a few are compiled as a user's are.
quickly="-O0 -DGBEES_NO_CLONES"

# variant NAME SED-SCRIPT [OPTIONS]: the model that `new` writes, changed, compiled as it is, quickly or with these options.
variant() {
    sed -e "s/\"mine\"/\"$1\"/" -e "$2" mine.c >"$1.c"
    what="compiling $1.c"
    cmp -s mine.c "$1.c" && fail "the script changed nothing"
    # shellcheck disable=SC2086 # CC and the options have several words
    ${CC:-cc} -shared -fPIC ${3:-$quickly} -ffp-contract=off -I. -I"$top_src/include" "$1.c" -o "$1.so" -lm 2>err || fail "$CC"
}

# ---- new ----

run 0 new mine
has out "mine.c is written"
run 2 new mine
refused "mine.c is there already, and is not overwritten"
for name in 1st a-b mine.c sub/mine '' 'a b' x234567890123456789012345678901234567890123456789012345678901234; do
    run 2 new "$name"
    refused "can't be a model's name"
done
run 2 new lorenz63
refused "there is a plugin 'lorenz63' already, $top_build/plugins/.libs/lorenz63.so: choose another name"
for n in 0 9 two; do
    run 2 new other --dimension "$n"
    refused "--dimension wants a whole number from 1 to 8, not '$n'"
done
test ! -e other.c || fail "it wrote a file for nothing"
(cd / && test ! -w /proc && "$program" new mine) >out 2>err && fail "it wrote to a folder that takes nothing"

# ---- usage ----

run 2
refused "say what to do: new, build or check"
run 2 make mine
refused "'make' is nothing that it does"
run 2 build
refused "build wants a source file, FILE.c"
run 2 build mine.c other.c
refused "one argument too many: 'other.c'"
run 2 check mine --dimension 3
refused "an option of new does not go with check"
run 2 build mine.txt
refused "mine.txt: a source file ends in .c"
run 2 build none.c
refused "none.c: No such file or directory"
run 2 build mine.c --output mine
refused "--output wants a file that ends in .so, not 'mine'"
run 2 check mine.c
refused "mine.c is a source file: first  gbees-plugin build mine.c"
run 2 build mine.c --no-strict
refused "an option of check does not go with build"
run 2 check mine --time-limit 0
refused "--time-limit wants a number of seconds, not '0'"
run 0 --version
has out "gbees-plugin "

# ---- build ----

run 0 build mine.c
has out "mine is installed: $installed/mine.so"
lines err 0
test "$(ls -A "$installed")" = mine.so || fail "more than the plugin is in $(ls -A "$installed")"
test ! -e mine.so || fail "it left a file in the current folder"
run 2 new mine
refused "there is a plugin 'mine' already, $installed/mine.so"
run 0 build mine.c --no-install --output "$scratch/work/there.so"
has out "mine is built: $scratch/work/there.so"
run 0 build mine.c --no-install
has out "mine is built: ./mine.so"
rm mine.so there.so

# What is built from here on is not run, but for its card.
CFLAGS=$quickly
export CFLAGS

# In a folder that others may write to, too, somebody has put a link where the program is about to write.
echo precious >victim
what="a planted link"
# shellcheck disable=SC2016 # the inner shell's process becomes the program's
sh -c 'ln -s victim ".planted.so.$$"; exec "$0" build mine.c --no-install --output ./planted.so' "$program" >out 2>err
code=$?
test "$code" -eq 1 || fail "exit status $code, not 1"
test "$(cat victim)" = precious || fail "it wrote through the link"
refused "can't write the file ./.planted.so."
has err "it is there already, and not this program's: remove it"
test ! -e planted.so || fail "it made the plugin all the same"
rm .planted.so.*
what="a link with the plugin's name"
ln -s victim planted.so
run 0 build mine.c --no-install --output ./planted.so
test "$(cat victim)" = precious || fail "it wrote through the link"
test ! -L planted.so || fail "the link is still there"
rm planted.so victim

before=$(cksum "$installed/mine.so")
cp mine.c sound.c
line=$(grep -n 'dxdt\[1\] =' mine.c | cut -d: -f1)
sed -i "${line}s/;/ oops;/" mine.c
run 1 build mine.c
has err "mine.c:$line:"
test "$(tail -n 1 err | cut -d: -f1,2)" = "gbees-plugin: mine.c was not compiled" || fail "the last line is another"
sed "${line}s/oops;/+ nowhere(x[0]);/" mine.c >undefined.c
run 1 build undefined.c
has err "nowhere"
has err "gbees-plugin: undefined.c was not compiled"
mv sound.c mine.c
what="a failed build"
test "$(cksum "$installed/mine.so")" = "$before" || fail "the plugin that was there is another"
test "$(ls -A "$installed")" = mine.so || fail "it left something in $(ls -A "$installed")"

echo 'int x;' >nothing.c
run 1 build nothing.c
refused "nothing.c was compiled, but is no plugin: not a gbees model: it has no symbol gbees_model_card"
sed 's/0\.2, 0, 10}/20, 0, 10}/' mine.c >default.c
run 1 build default.c
refused "default.c was compiled, but is no plugin: its card gives parameter 'damping' the default 20, outside its range 0 to 10"
sed 's/^GBEES_MODEL/__attribute__((constructor)) static void start(void) { __builtin_trap(); }\n&/' mine.c >start.c
run 1 build start.c
refused "start.c was compiled, but is no plugin: can't be loaded: a process tried to first, and it crashed ("
(
    CC=$scratch/none/cc
    export CC
    "$program" build mine.c >out 2>err
) && fail "it compiled with no compiler"
what="no compiler"
refused "there is no compiler '$scratch/none/cc'"
what="no home"
(
    unset HOME
    "$program" build mine.c >out 2>err
) && fail "it installed nowhere"
refused "HOME is not an absolute path"
sed 's/"mine"/"vanderpol"/' mine.c >hiding.c
run 0 build hiding.c
has out "note: $top_build/plugins/.libs/vanderpol.so is found after it"
rm "$installed/vanderpol.so"
unset CFLAGS

# ---- check ----

run 0 check mine
has out "mine - states that push each other around a ring"
has out "  damping    0.2"
lines err 0
for name in plugin name 'units and texts' parameters 'scenario default' 'drift, default' 'batches, default' \
    'time, default' 'continuity, default' 'measurements, default' 'arrays, default' 'whole numbers' 'run, default'; do
    grep -qE "^$name +ok: " out || fail "no '$name ok'"
done
grep -qE '^compiled for cuda +note: not checked: ' out || fail "it does not say that the GPU was not looked at"
grep -qE '^run on cuda .* note: not checked: ' out || fail "it does not say that nothing ran on a GPU"
has out "mine: ok 14, notes 2, warnings 0, FAILED 0"
for name in "$top_build"/plugins/.libs/*.so; do
    run 0 check "$name"
    has out ", warnings 0, FAILED 0"
done

run 1 check nowhere
failed plugin "no model named 'nowhere'"
run 1 check minx
failed plugin "did you mean 'mine'?"
run 1 check none.so
failed plugin "./none.so: No such file or directory"
echo junk >junk.so
run 1 check junk.so
failed plugin "junk.so: "
run 1 check "$top_build/tests/.libs/no_plugin.so"
failed plugin "not a gbees model: it has no symbol gbees_model_card"
run 1 check "$top_build/tests/.libs/bad_abi.so"
failed plugin "made for model ABI 1000"

# Each is one change away from the model that is well.
at='dxdt\[1\] = '
variant crashing "s/$at/*(volatile real *)0 = 0; &/"
run 1 check crashing.so
failed parameters "the plugin crashed (Segmentation fault)"
gbees_run=$programs/gbees-run
calls 139 "$gbees_run" --plugin ./crashing.so --backend cpu --no-output --progress none
has err "the program crashed: in a function of the model 'crashing'"
# One that is well at first, and twice waits for longer than the time between two commits, which a slow disk makes long:
# what was computed before is there.
what="a crash while running"
cat >waits.sed <<'EOF'
s/turns = 1;$/*(volatile int *)0 = 0;/
s/"loops"/"late"/
s/^#include <gbees/#include <stdlib.h>\n#include <unistd.h>\n&/
s/^    volatile int turns.*/&\n    static double next = 1.1;\n\n    if ((double)x[0] > next) {\n        next += 0.25;\n        (void)sleep((unsigned)atoi(getenv("GBEES_TEST_WAIT")));\n    }/
EOF
sed -f waits.sed "$top_src/tests/plugins/loops.c" >late.c
# shellcheck disable=SC2086 # CC may have options
${CC:-cc} -shared -fPIC -O1 -ffp-contract=off -I. -I"$top_src/include" late.c -o late.so 2>err || fail "late.c is not compiled"
for seconds in 2 8 32; do
    rm -rf late
    GBEES_TEST_WAIT=$seconds
    export GBEES_TEST_WAIT
    calls 139 "$gbees_run" --plugin ./late.so --backend cpu --threads 1 --audit off --progress none --quiet --output late
    has_record late 0 3 && break
done
has err "the program crashed: in a function of the model 'late'"
test "$(grep -c '^gbees-run: ' err)" -eq 1 || fail "it says more than one line" # the shell may add one
has_record late 0 3 || fail "no records before the crash"
calls 0 "$programs/gbees-export" --verify late
variant endless "s/$at/for (volatile int i = 0; i < 1;) ; &/"
run 1 check endless.so --time-limit 1
failed parameters "no answer within 1 s: look for a loop that never ends"
variant leaving "s/$at/extern void exit(int); exit(3); &/"
run 1 check leaving.so
failed parameters "the plugin ended the program itself, with exit status 3: take exit() out of it"
variant printing "s/$at/extern int puts(const char *); puts(\"boo\"); &/"
run 0 check printing.so
grep -q boo out && fail "the plugin's own output is among the checks"
variant nan "s/$at/dxdt[1] = sqrt(x[0]) + /"
run 1 check nan.so
failed 'drift, default' "the drift is not finite in double at "
has out "dx2/dt at x = ("
variant overflow "s/$at/dxdt[1] = (real)1e30 * ((real)1e30 * x[0]) * (real)1e-60 + /"
run 1 check overflow.so
failed 'drift, default' "the drift is not finite in float at "
variant twofold "s/$at/dxdt[1] = (sizeof(real) == 4) + /"
run 1 check twofold.so
failed 'drift, default' "they are different equations"
variant counting "s/$at/static int calls; dxdt[1] = (real)0.001 * (real)calls++ + /"
run 1 check counting.so
failed 'batches, default' "remember nothing"
variant timed "s/$at/dxdt[1] = t + /"
run 1 check timed.so
failed 'time, default' "say .flags = GBEES_TIME_DEPENDENT on the card"
variant between "s/$at/dxdt[1] = (t > (real)1.4 \&\& t < (real)1.6 ? 1 : 0) + /"
run 1 check between.so
failed 'time, default' "the drift is not the same at t = 0 and at t = 1.52786"
what="gbees-run --plugin between"
for how in --no-output --check; do
    "$programs/gbees-run" --plugin ./between.so --backend cpu $how >out 2>err
    test $? -eq 2 || fail "$how: it is not refused"
    has err "say .flags = GBEES_TIME_DEPENDENT on the card"
done
# What is not written is what a register or the stack happens to hold: it has to be optimised to be what the caller left.
variant silent "s/$at/const real lost = (real)0 * /; s/^{/{ (void)n;/" "-O1 -DGBEES_NO_CLONES"
run 1 check silent.so
failed 'drift, default' "component 2 of the drift, dx2/dt, is not a number at 594 of 594 points"
what="gbees-run --plugin silent"
"$programs/gbees-run" --plugin ./silent.so --backend cpu --no-output >out 2>err && fail "it runs"
has err "drift() must write all of its components at each call"
variant beyond "s/$at/dxdt[1] = p[2] + /"
run 1 check beyond.so
failed parameters "drift() reads p[2], and the card has 2 parameters: add one to the card, or mend the index"
variant behind "s/y\[0\] = fabs/y[0] = p[31] + fabs/"
run 1 check behind.so
failed parameters "measure() reads p[31], and the card has 2 parameters"
variant hesitant "s/$at/if (x[0] > (real)0.1) &/"
run 1 check hesitant.so
failed 'drift, default' "drift() must write all of its components at each call"
variant jumping "s/$at/dxdt[1] = (x[0] > (real)0.12 ? (real)0.1 : (real)-0.1) + /"
run 1 check jumping.so
has out ", warnings 1, FAILED 0"
has out "a warning is a failure here"
lines err 0
run 1 check jumping.so --strict
run 0 check jumping.so --no-strict
grep -qE '^continuity, default +warning: the drift is not continuous: at x = \(0.12,' out || fail "it sees no jump"
what="gbees-run --plugin jumping"
"$programs/gbees-run" --plugin ./jumping.so --backend cpu --set factor=4 --until 0.5 --no-output >out 2>err || fail "exit status $?"
has err "warning: at t = 0: the drift is not continuous: at x = (0.12,"
"$programs/gbees-run" --plugin ./jumping.so --backend cpu --set factor=4 --until 0.5 --no-output --strict >out 2>err &&
    fail "--strict takes it"
variant wide 's/factor: 4/factor: 0.3/; s/accuracy: 0.05/threshold: 1.0e-9/'
run 1 check wide.so
grep -qE '^run, default +warning: to t = 0.4: ' out || fail "it does not say what the monitors of a run find"
run 0 check wide.so --no-strict
variant steep "s/$at/dxdt[1] = tanh(200 * (x[0] - (real)0.1)) + sqrt(fabs(x[1])) + /"
run 0 check steep.so
grep -qE '^continuity, default +ok: ' out || fail "it sees a jump where there is none"
variant flagged "s/$at/dxdt[1] = t + /; s/\.flags = 0/.flags = GBEES_TIME_DEPENDENT/"
run 0 check flagged.so
grep -q '^time, ' out && fail "it looks whether the drift keeps still, though the card says that it does not"
# What is read and written beyond the arrays, and left unset; whole numbers; what the compiler warns of.
variant beyond "s/$at/&1e-3 * x[2] + /"
run 1 check beyond.so --no-strict
failed 'arrays, default' "drift() reads x[2], and there are 2, from x[0] to x[1]"
variant before "s/$at/&0 * x[-1] + /"
run 1 check before.so --no-strict
failed 'arrays, default' "drift() reads x[-1], and there are 2"
variant mute "s/y\[0\] = fabs/if (x[0] > 1e9) &/"
run 1 check mute.so --no-strict
failed 'arrays, default' "measure() of 'size' never writes y[0]: it has 1 component; look at its case, which = 1"
sed 's/name = "leap"/name = "idle"/; s/to\[1\] = which == 0/if (which < 3) &/' "$top_src/tests/plugins/leap.c" >idle.c
run 0 build idle.c --no-install
run 1 check idle.so --no-strict
failed 'arrays, default' "jump() of 'lost' never writes to[1]: it has 2 components; look at its case, which = 3"
sed 's/name = "leap"/name = "greedy"/; s/x\[1\] + value\[0\] :/x[1] + value[1] :/' "$top_src/tests/plugins/leap.c" >greedy.c
run 0 build greedy.c --no-install
run 1 check greedy.so --no-strict
failed 'arrays, default' "jump() of 'burn' reads value[1], and there are 1"
variant lavish "s/y\[0\] = fabs/y[1] = 1; &/"
run 1 check lavish.so --no-strict
failed 'arrays, default' "measure() of 'size' writes y[1], and its size is 1: it writes y[0] to y[0]"
variant halved "s/$at/&1\/2 * x[0] + 2 * 1 \/ 2 + 4\/2 - 1.0\/3 + /"
run 1 check halved.so
lines err 0
grep -qE '^whole numbers +warning: line [0-9]+: 1/2 divides whole numbers, and is 0: write 1.0/2$' out ||
    fail "it does not see 1/2"
test "$(grep -c 'divides whole numbers' out)" = 1 || fail "it sees more than that"
run 0 build halved.c --no-install
grep -qE '^halved.c:[0-9]+: warning: 1/2 divides whole numbers' err || fail "build does not see 1/2"
lines err 1
variant unset "s/$at/real never; &never + /"
run 1 check unset.so
grep -q '^unset.c:[0-9:]* warning: .*never' out || fail "it does not show the compiler's warning"
grep -qE "^the compiler's warnings +warning: the compiler warns at 1 place, above" out || fail "no verdict"
variant blind "s/y\[0\] = fabs/y[0] = log/"
run 1 check blind.so
failed 'measurements, default' "the function 'size' gives a component that is not finite at the mean"
variant unlikely 's/^#include <gbees/#define GBEES_HAS_LOG_LIKELIHOOD 1\n&/
    s/^#else .*/static inline real log_likelihood(int which, int n, real t, const real x[], const real p[], const real y[])\n{ (void)which, (void)n, (void)t, (void)p; return sqrt(-1 - fabs(x[0] - y[0])); }\n&/'
run 1 check unlikely.so
failed 'likelihoods, default' "of what 'size' measures at the mean the likelihood there is not a number"
variant unbound 's/^#include <gbees/#define GBEES_HAS_BOUND 1\n&/; s/\.bound = NULL/.bound = \&states[0]/
    s/^#else .*/static inline real bound(int n, real t, const real x[], const real p[])\n{ (void)n, (void)t, (void)p; return sqrt(x[1]); }\n&/'
run 1 check unbound.so
failed 'bound, default' "the bound is not finite at x = ("
# noise NAME FLAG TEXT: the model with this diffusion.
noise() {
    variant "$1" "s/^#include <gbees/#define GBEES_HAS_DIFFUSION $2\\n&/
        s/^#else .*/static inline void diffusion(int n, real t, const real x[], const real p[], real Q[])\\n{ (void)n, (void)t, (void)x, (void)p; $3 }\\n&/"
}
noise noisy GBEES_DIAGONAL 'Q[0] = (real)0.25; Q[1] = (real)0.125 * x[0] * x[0];'
run 0 check noisy.so
grep -qE '^diffusion, default +ok: finite, and can be on this grid' out || fail "no diffusion"
has out "  diffusion  noise on each state by itself: a diagonal Q"
noise negative GBEES_DIAGONAL 'Q[1] = x[0];'
run 1 check negative.so
failed 'diffusion, default' "Q[1][1], for x2, is negative at x = ("
noise boundless GBEES_DIAGONAL 'Q[0] = 1 \/ (x[0] - x[0]);'
run 1 check boundless.so
failed 'diffusion, default' "not finite along x1 at x = ("
noise rising GBEES_DIAGONAL 'Q[0] = 1 + t;'
run 1 check rising.so
failed 'time, default' "the diffusion is not the same at t = 0 and at t = 4: say .flags"
noise lopsided GBEES_FULL 'Q[0] = Q[3] = 1; Q[1] = (real)0.5;'
run 1 check lopsided.so
failed 'diffusion, default' "Q[0][1] = 0.5 and Q[1][0] = 0 at x = ("
noise narrow GBEES_FULL 'Q[0] = Q[3] = 1; Q[1] = Q[2] = (real)1.5;'
run 1 check narrow.so
failed 'diffusion, default' "too correlated for the scenario's grid at x = ("
noise full GBEES_FULL 'Q[0] = Q[3] = 1; Q[1] = Q[2] = (real)-0.5;'
run 0 check full.so
has out "  diffusion  noise on the states, correlated between them: a full Q"
variant backwards 's/end: 4\.0/end: -4.0/'
run 1 check backwards.so
failed 'scenario default' "end: expected a time after the start (0), found '-4.0'"
variant misspelt 's/accuracy:/acuracy:/'
run 1 check misspelt.so
failed 'scenario default' "did you mean 'accuracy'?"
variant unitless 's/"x2", "-"/"x2", ""/'
run 0 check unitless.so --no-strict
grep -qE "^units and texts +warning: 'x2' has no unit" out || fail "it does not miss the unit"
variant divided "s/- damping/- 1 \/ damping/"
run 0 check divided.so --no-strict
grep -qE '^parameters +warning: with damping = 0, the start of its range' out || fail "it does not see the range"
mv divided.so renamed.so
run 0 check renamed.so --no-strict
grep -qE "^name +warning: the model 'divided' is in the file renamed.so" out || fail "it does not see the name"

# ---- on another processor: the CUDA backend on threads, and its compiler where there is one ----

if test -f "$top_build/tests/.libs/gbees_shim.so"; then
    GBEES_BACKEND_PATH=$top_build/tests/.libs
    SHIM_MODEL=lorenz63
    export GBEES_BACKEND_PATH SHIM_MODEL
    sed 's/"threshold: 5/"scheme: split5\\n"\n&/; s/"lorenz63"/"same"/' "$top_src/plugins/lorenz63.c" >same.c
    CFLAGS=$quickly
    export CFLAGS
    run 0 build same.c
    run 0 check same --backend shim
    grep -qE '^run on shim and on the CPU +ok: ' out || fail "the two are not said to agree"
    # The kernels on threads have the equations of lorenz63: to them this drift is another one.
    sed 's/= -x\[1\]/= (real)-1.01 * x[1]/; s/"same"/"another"/' same.c >another.c
    run 0 build another.c
    run 1 check another --backend shim
    failed 'run on shim and on the CPU' ", not below 0.0001"
    unset GBEES_BACKEND_PATH SHIM_MODEL CFLAGS
fi
GBEES_BACKEND_PATH=$top_build/tests/.libs
export GBEES_BACKEND_PATH
run 0 check mine --backend fake
grep -qE '^run on fake and on the CPU +note: not checked: the fake backend computes nothing' out ||
    fail "it does not say why nothing ran"
FAKE_BACKEND_WAITS=1
export FAKE_BACKEND_WAITS
run 0 check mine --backend fake --time-limit 0.5
grep -qE '^run on fake and on the CPU +note: not checked: it takes longer than 6 s' out ||
    fail "it does not say that it gave up"
unset FAKE_BACKEND_WAITS GBEES_BACKEND_PATH
unset GBEES_CUDA_LIBRARY_PATH
variant variable "s/$at/real v[n]; v[0] = x[0]; dxdt[1] = 0 * v[0] + /"
what="a model that a compiler for GPUs refuses"
"$program" check variable.so >out 2>err
if grep -E '^compiled for cuda +note: not checked' out >&2; then
    echo "the compiler for GPUs is not looked at" >&2
else
    failed 'compiled for cuda' "the model can't be compiled for the GPU: variable.c:$line: "
    if is_long; then
        run 0 check mine --arch sm_90
        grep -qE '^compiled for cuda +ok: mine, 2 states, for sm_90 ' out || fail "it is not compiled for the GPU"
    fi
fi
GBEES_CUDA_LIBRARY_PATH=$scratch/none
export GBEES_CUDA_LIBRARY_PATH

# ---- run ----

what="gbees-run --plugin mine"
"$programs/gbees-run" --plugin mine --backend cpu --threads 1 --output mine >out 2>err || fail "exit status $?"
test "$(grep -c '^  [01]  ' out)" -eq 10 || fail "not ten records"
has out "accuracy 0.05 of the moments: met"
lacks out "warning"
is_long && dimensions='1 3 8' || dimensions='1 3'
for n in $dimensions; do
    run 0 new "states$n" --dimension "$n"
    run 0 build "states$n.c"
    # Eight states are on wide cells, so that they run in seconds.
    run $((n == 8)) check "states$n"
    has out ", warnings $((n == 8)), FAILED 0"
done
what="gbees-run --plugin states3"
"$programs/gbees-run" --plugin states3 --backend cpu --threads 1 --no-output >out 2>err || fail "exit status $?"
has out "accuracy 0.05 of the moments: met"
lacks out "warning"

# ---- static data of constant sines, which gcc takes ----

if ! ${CC:-cc} --version | grep -q clang; then
    what="constant sines"
    sed -e 's/"mine"/"constant"/' \
        -e 's/^static inline void drift/static const real GBEES_FN(table)[2] = {sin((real)0.5), cos((real)0.5)};\n\n&/' \
        -e 's/const real damping/(void)GBEES_FN(table);\n    &/' mine.c >constant.c
    run 0 build constant.c
    lines err 0
fi

# ---- C++ ----

# The same file, and one that no compiler of C takes. Vectors of sines are only for C, and have other last bits.
CFLAGS=-UGBEES_VECTOR_MATH "$program" build mine.c >out 2>err || fail "mine.c is not built"
rm -rf mine
"$programs/gbees-run" --plugin mine --backend cpu --threads 1 --output mine >out 2>err || fail "exit status $?"
sed 's/"mine"/"twin"/' mine.c >twin.cc
sed -e 's/"mine"/"modern"/' \
    -e 's/^static inline void drift/template <typename T> static inline T GBEES_FN(pull)(T x) { return sin(x); }\n&/' \
    -e 's/force \* sin(/force * GBEES_FN(pull)(/' -e 's/const real damping/constexpr int used = 2; static_assert(used == 2, "");\n    &/' \
    mine.c >modern.cpp
compilers=0
for CXX in "${CXX:-c++}" clang++; do
    command -v "${CXX%% *}" >/dev/null || continue
    export CXX
    for source in twin.cc modern.cpp; do
        name=${source%.*}
        rm -rf "$name" "$name.text"
        run 0 build "$source"
        lines err 0
        run 0 check "$name"
        has out ", FAILED 0"
        what="$name with $CXX"
        "$programs/gbees-run" --plugin "$name" --backend cpu --threads 1 --output "$name" >out 2>err || fail "run"
        "$programs/gbees-export" --format csv "$name" "$name.text" >out 2>err || fail "export"
        test -d mine.text || "$programs/gbees-export" --format csv mine mine.text >out 2>err || fail "export of mine"
        diff -r mine.text "$name.text" >out 2>err || fail "its densities are not those of the twin in C"
        compilers=$((compilers + 1))
    done
done
test "$compilers" -gt 0 || echo "there is no C++ compiler: plugins in C++ are not looked at" >&2
exit "$bad"

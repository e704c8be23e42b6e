#!/bin/sh
# test_plot.sh - gbees-plot on small runs: the files it writes, and its errors.
set -u

. "${GBEES_TOP_SRC:-$(dirname "$0")/../../..}/tests/fixtures/shell_fixture.sh"
enter_scratch
clean_environment

# plot CODE ARGUMENT...: the exit status must be CODE; its output is left in the files out and err.
plot() {
    wanted=$1
    shift
    calls "$wanted" "$programs/gbees-plot" "$@"
}

# refuses CODE TEXT ARGUMENT...: fails with one line that has TEXT, and writes nothing.
refuses() {
    code_wanted=$1
    text=$2
    shift 2
    plot "$code_wanted" "$@"
    grep -qF -- "$text" err || fail "no '$text' in its message"
    test "$(grep -vc '^Try ' err)" -eq 1 || fail "its message has not one line"
    test ! -s out || fail "it printed something"
}

# The numbers of a PNG's size are big-endian, at byte 16 and 20.
png_size() {
    od -A n -t u1 -j 16 -N 8 "$1" | awk '{printf "%dx%d", ($1*256+$2)*65536+$3*256+$4, ($5*256+$6)*65536+$7*256+$8}'
}

# pictures DIR BYTES NAME...: exactly these were printed, and each is a PNG of at least so many bytes.
pictures() {
    folder=$1
    least=$2
    shift 2
    for name in "$@"; do
        echo "$folder/$name.png"
    done >wanted
    cmp -s wanted out || fail "it printed other paths than $(cat wanted)"
    test ! -s err || fail "it complained"
    for name in "$@"; do
        signature=$(od -A n -t x1 -N 8 "$folder/$name.png" 2>&1 | tr -d ' \n')
        test "$signature" = 89504e470d0a1a0a || fail "$name.png is not a PNG: $signature"
        bytes=$(($(wc -c <"$folder/$name.png")))
        test "$bytes" -ge "$least" || fail "$name.png has only $bytes bytes"
    done
}

run() { # DIR ARGUMENT...
    folder=$1
    shift
    "$programs/gbees-run" --backend cpu --threads 1 --output "$folder" --progress none "$@" >log 2>&1 || {
        echo "FAIL: gbees-run $*: $(cat log)" >&2
        exit 1
    }
}

run three --plugin lorenz63 --scenario published --until 0.1 --set records=2 --set measurements=[]
run measured --plugin lorenz63 --scenario published --until 0.2 --set records=1 \
    --set 'measurements=[{time: 0.1, function: z, value: [5], covariance: [1]}]'
run four --plugin lorenz96 --scenario published --set dimension=4 --until 0.02 --set records=1

# Three states.
plot 0 three
pictures three/plots 10000 marginals corner isosurface picture
cmp -s three/plots/isosurface.png three/plots/picture.png || fail "picture.png is not the isosurfaces"
test "$(png_size three/plots/marginals.png | cut -dx -f1)" = 2400 || fail "the width is not 2400"
# Pictures of the usual size take seconds: the rest is drawn small, where its height says nothing.
small="--size 900x800"
# shellcheck disable=SC2086 # two words
{
    plot 0 three $small --output first
    plot 0 three $small --output second
    cmp -s first/isosurface.png second/isosurface.png || fail "a second call draws something else"
    plot 0 three $small --output turned --view 40,-20 --records 0:0,0:2
    pictures turned 10000 marginals corner isosurface picture
    cmp -s first/isosurface.png turned/isosurface.png && fail "--view has no effect"
}
plot 0 three --samples --output with
low=$(png_size three/plots/isosurface.png | cut -dx -f2) high=$(png_size with/isosurface.png | cut -dx -f2)
test "$high" -gt $((low * 3 / 2)) || fail "--samples: a picture $high pixels high has no row of samples ($low without)"

# A note under each picture tells the certificates; results without any have no room for one.
run silent --plugin lorenz63 --scenario published --until 0.1 --set records=2 --set measurements=[] --audit off
plot 0 silent
pictures silent/plots 10000 marginals corner isosurface picture
for name in marginals corner isosurface; do
    with=$(png_size three/plots/$name.png | cut -dx -f2) without=$(png_size silent/plots/$name.png | cut -dx -f2)
    test "$with" -gt "$without" || fail "$name.png: $with rows with certificates, $without without"
done

# Two legs, another folder, another size.
plot 0 measured --output other --size 800x600
pictures other 5000 marginals corner isosurface picture
for name in marginals corner isosurface; do
    test "$(png_size other/$name.png)" = 800x600 || fail "$name.png is $(png_size other/$name.png)"
done
test ! -e measured/plots || fail "--output is not the only folder"

# Four states: no picture of all, but of two or three.
plot 0 four --size 900x800
pictures four/plots 5000 marginals corner picture
cmp -s four/plots/corner.png four/plots/picture.png || fail "picture.png is not the corner plot"
plot 0 four --size 900x800 --axes 4,x2
pictures four/plots 5000 marginals corner density picture
plot 0 four --size 900x800 --axes 1,2,4 --records 0:1
pictures four/plots 5000 marginals corner isosurface picture

# More than three measurements: every state against time, first.
printf 'time,z,sigma_z\n0.05,9,1\n0.1,8,1\n0.15,7,1\n0.2,6,1\n' >seen.csv
printf 'time,x,y,z\n0,-11,-9,9\n0.1,-9,1,8\n0.2,-5,4,1\n' >true.csv
run filtered --plugin lorenz63 --scenario published --set records=1 --measurements seen.csv
run held --plugin lorenz63 --scenario published --set records=1 --measurements seen.csv --truth true.csv
plot 0 filtered --size 900x800
pictures filtered/plots 5000 series picture marginals corner isosurface
cmp -s filtered/plots/series.png filtered/plots/picture.png || fail "picture.png is not the time series"
plot 0 held --size 900x800
cmp -s filtered/plots/series.png held/plots/series.png && fail "the truth is not in the picture"

# Other formats, and one file.
plot 0 four --format svg,pdf --size 900x800
for name in marginals.pdf marginals.svg corner.pdf corner.svg picture.pdf picture.svg; do
    test -s four/plots/$name || fail "there is no $name"
done
lines out 6
head -c 5 four/plots/corner.pdf | grep -q '^%PDF-' || fail "corner.pdf is no PDF"
grep -q '<svg ' four/plots/corner.svg || fail "corner.svg is no SVG"
plot 0 filtered --output one.pdf
test "$(cat out)" = one.pdf || fail "it printed something else"
head -c 5 one.pdf | grep -q '^%PDF-' || fail "one.pdf is no PDF"
plot 0 filtered --output one.png --size 900x800
cmp -s one.png filtered/plots/series.png || fail "one.png is another picture"

# Axes of all panels together or of each: two legs of which the second is narrow differ, and a text that is neither is
# refused.
plot 0 measured --output apart --size 800x600 --scale panel
plot 0 measured --output together --size 800x600 --scale shared
cmp -s apart/marginals.png together/marginals.png && fail "--scale has no effect"
refuses 2 "--scale both: give panel or shared" three --scale both

# The truth is a line in the densities.
cmp -s filtered/plots/corner.png held/plots/corner.png && fail "the truth is not in the corner plot"

run beside --plugin lorenz63 --scenario published --until 0.1 --set records=2 --set measurements=[]

# Samples are in the densities of one and two states.
for name in marginals corner; do
    cmp -s with/$name.png three/plots/$name.png && fail "--samples: they are not in $name.png"
done

# Several runs over each other; their own pictures stay.
mkdir runs
plot 0 three silent measured --output runs
pictures runs 10000 runs-marginals runs-series
mkdir sampled
plot 0 three silent measured --samples --output sampled
pictures sampled 10000 runs-marginals runs-series
cmp -s runs/runs-marginals.png sampled/runs-marginals.png && fail "--samples: they are not over those of several runs"
plot 0 silent three --size 900x800
pictures silent/plots 5000 runs-marginals runs-series
test -e silent/plots/corner.png || fail "its own pictures are gone"
plot 0 three silent --output two.svg
grep -q '<svg ' two.svg || fail "two.svg is no SVG"
refuses 1 "four the states x1, x2, x3, x4: give runs of the same model" three four
run later --plugin lorenz63 --scenario published --until 0.07 --set records=1 --set measurements=[]
refuses 1 "later has no record at the end of a leg of three, at t = 0.1" three later
refuses 2 "--axes goes with one folder" three silent --axes 1,2
refuses 1 nowhere three nowhere

# The records as frames of a film, of all three kinds: all of one size.
for name in three four beside; do
    plot 0 $name --frames --output film-$name --size 500x400
    test "$(cat out)" = film-$name || fail "it printed something else"
    test "$(find film-$name -name 'frame*.png' | wc -l)" -eq "$(records_of $name | wc -l)" || fail "$(ls film-$name): not a frame a record"
    test "$(head -c 24 film-$name/frame001.png | tail -c 8 | od -A n -t x1 | tr -d ' ')" = 000001f400000190 || fail "not of 500x400 pixels"
    test "$(for frame in film-$name/*.png; do head -c 24 "$frame" | tail -c 8 | cksum; done | sort -u | wc -l)" -eq 1 || fail "frames of several sizes"
done
plot 0 four --axes 1,2 --frames --size 500x400
test -s four/plots/frame001.png || fail "no frames in four/plots"
plot 0 measured --records 0:0,1 --frames --output chosen
test "$(find chosen -type f | wc -l)" -eq 3 || fail "$(ls chosen): not 3 frames"
refuses 1 "can't make the folder nowhere/a" three --frames --output nowhere/a
refuses 2 "give one folder of results" three silent --frames
refuses 2 "give one folder of results" three --frames --output a.png

# Wrong command lines.
refuses 2 "--format gif: give png, pdf, svg" three --format gif
refuses 2 "--format png,: give png, pdf, svg" three --format png,
refuses 1 "can't write nowhere/one.pdf" three --size 900x800 --output nowhere/one.pdf
refuses 2 "give the folder"
refuses 2 "unrecognized option" --nonsense three
refuses 2 "--view 3: give two angles" three --view 3
refuses 2 "--view 0,91: give two angles" three --view 0,91
refuses 2 "--size 10x10: give WIDTHxHEIGHT" three --size 10x10
refuses 2 "--records 0:: give LEG" three --records 0:
refuses 2 "--records 5: three has none of these" three --records 5
refuses 2 "--axes 1,2,4: there is no state '4'" three --axes 1,2,4
refuses 2 "--axes 1,y,2: state '2' is given twice" three --axes 1,y,2
refuses 2 "--axes 2: give two or three states" three --axes 2

# Wrong folders and files.
mkdir empty
echo text >file
refuses 1 nowhere nowhere
refuses 1 empty empty
refuses 1 file file
test ! -e empty/plots || fail "it made a folder"
refuses 1 "file/plots" three --output file/plots
refuses 1 "can't make the folder file" three --output file
# So short that the superblock of the last fsync, which half a file may still hold, leads nowhere either.
mkdir -p corrupt
head -c 2048 three/run.h5 >corrupt/run.h5
refuses 1 corrupt/run.h5 corrupt
# Wherever a file is cut off: what can still be read is drawn with a line about the rest, or nothing is.
size=$(($(wc -c <three/run.h5)))
for part in 4096 $((size / 4)) $((size / 2)) $((size - 4096)) $((size - 1)); do
    rm -rf cut
    mkdir cut
    head -c "$part" three/run.h5 >cut/run.h5
    what="$part of $size bytes"
    "$programs/gbees-plot" cut >out 2>err
    case $? in
    0) grep -q "^gbees-plot: warning: cut/run.h5 is damaged: it ends at byte $part of [0-9]*: what was written after" err ||
        fail "it says nothing of what is missing" ;;
    1) grep -q "cut/run.h5: truncated file.*it is damaged\|cut/run.h5 is damaged: it ends at byte $part" err ||
        fail "it does not say that it is cut off" ;;
    *) fail "it crashed" ;;
    esac
done
mkdir -p foreign
printf '\211HDF\r\n\032\n of another program' >foreign/run.h5
refuses 1 "another program has written it" foreign
test ! -e corrupt/plots || fail "it made a folder"

# The true reason of a picture that can't be written.
if test -c /dev/full; then
    mkdir disk
    ln -s /dev/full disk/marginals.png
    refuses 1 "No space left on device" --output disk --size 900x800 three
fi

# Help and version go to standard output.
plot 0 --version
grep -q '^gbees-plot [0-9]' out || fail "no version"
plot 0 --help
grep -qF -- --view out || fail "no --view in the help"

test "$bad" -eq 0 && echo "test_plot: all well"
exit "$bad"

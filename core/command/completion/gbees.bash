# gbees.bash - completion in bash of gbees-run, gbees-plot, gbees-export and gbees-plugin.
# shellcheck shell=bash
#
# Options and the words that they take are read from each program's --help; plugins, scenarios, parameters and keys from
# the listings of gbees-run. This file names only the options whose values come from a listing.

# The options of a program, one a line: short letter or '-', long name, value or '-'.
_gbees_options() # PROGRAM
{
    ARGP_HELP_FMT=rmargin=300 "$1" --help 2>/dev/null | awk '
        /^(  -., |      )--[a-z]/ {
            short = $1 ~ /^--/ ? "-" : substr($1, 2, 1)
            name = $1 ~ /^--/ ? $1 : $2
            at = index(name, "=")
            print short, substr(name, 3, at ? at - 3 : length(name)), at ? substr(name, at + 1) : "-"
        }'
}

# The names of a section of a listing: the first words of lines that are indented by two.
_gbees_section() # HEADING < LISTING
{
    awk -v heading="$1" '
        /^[^ ]/ { inside = index($0, heading) == 1 }
        inside && /^  [^ ]/ { print $1 }'
}

# The option of that name, -p or --plugin: its long name and value.
_gbees_find() # PROGRAM OPTION
{
    _gbees_options "$1" | awk -v option="$2" '
        option == "--" $2 || option == "-" $1 { print $2, $3; exit }'
}

# gbees-run beside the program.
_gbees_runner() # PROGRAM
{
    case $1 in
    */*) echo "${1%/*}/gbees-run" ;;
    *) echo gbees-run ;;
    esac
}

# The words of the command line in `words`, the one to be completed in `current`. Bash parts words at '=' and ':'; here
# they are put together again.
_gbees_words()
{
    local word joined=
    words=()
    for word in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
        if [[ $word == [=:]* && ${#words[@]} -gt 1 ]]; then
            words[-1]+=$word joined=yes
        elif [[ $joined && $word ]]; then
            words[-1]+=$word joined=
        else
            words+=("$word") joined=
        fi
    done
    current=${words[-1]}
}

# The value given to --plugin or --plugin-path.
_gbees_given() # OPTION [LETTER]
{
    local i
    for ((i = 1; i < ${#words[@]} - 1; i++)); do
        case ${words[i]} in
        "--$1="*) echo "${words[i]#*=}" ;;
        "--$1" | "-${2:--}") echo "${words[i + 1]}" ;;
        esac
    done | tail -n 1
}

_gbees_list() # PROGRAM HEADING
{
    local path
    path=$(_gbees_given plugin-path)
    "$(_gbees_runner "$1")" ${path:+--plugin-path "$path"} --list 2>/dev/null | _gbees_section "$2"
}

_gbees_describe() # PROGRAM HEADING
{
    local plugin path
    plugin=$(_gbees_given plugin p) path=$(_gbees_given plugin-path)
    [[ $plugin ]] || return
    "$1" ${path:+--plugin-path "$path"} --plugin "$plugin" --describe 2>/dev/null |
        if [[ $2 == Scenario ]]; then
            sed -n 's/^Scenario "\([^"]*\)".*/\1/p'
        else
            _gbees_section "$2"
        fi
}

# The keys of a scenario with '='; behind "KEY=" the words that it takes.
_gbees_keys() # PROGRAM WORD
{
    "$1" --list-keys 2>/dev/null | awk -v given="$2" '
        /^  [^ ]/ {
            key = $1 "="
            if (index(given, key) != 1) { print key; next }
            sub(/;$/, "", $2)
            count = split($2, words, "|")
            for (i = 1; count > 1 && i <= count; i++) print key words[i]
        }'
}

# Adds those of the candidates, one a line, that begin with the word.
_gbees_offer() # WORD CANDIDATES
{
    local candidate
    while read -r candidate; do
        [[ $candidate && $candidate == "$1"* ]] && COMPREPLY+=("$candidate")
    done <<<"$2"
}

_gbees_folders() # WORD
{
    compopt -o filenames 2>/dev/null
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "$1")
}

# Files that have one of the endings ('*': any), and folders.
_gbees_files() # WORD ENDING...
{
    local word=$1 file ending
    shift
    _gbees_folders "$word"
    while read -r file; do
        for ending; do
            # shellcheck disable=SC2053 # the ending may be a pattern
            [[ ! -d $file && $file == *$ending ]] && COMPREPLY+=("$file")
        done
    done < <(compgen -f -- "$word")
}

# What an option takes, by its name or else by its value in --help.
_gbees_value() # PROGRAM NAME VALUE WORD
{
    case ${1##*/}:$2 in
    gbees-run:plugin)
        _gbees_offer "$4" "$(_gbees_list "$1" Plugins)"
        _gbees_files "$4" .so
        ;;
    gbees-run:scenario)
        _gbees_offer "$4" "$(_gbees_describe "$1" Scenario)"
        _gbees_files "$4" .yaml .yml
        ;;
    gbees-run:set)
        compopt -o nospace 2>/dev/null
        _gbees_offer "$4" "$(_gbees_keys "$1" "$4")"
        ;;
    gbees-run:param)
        compopt -o nospace 2>/dev/null
        _gbees_offer "$4" "$(_gbees_describe "$1" Parameters | sed 's/$/=/')"
        ;;
    gbees-run:measurement-function) _gbees_offer "$4" "$(_gbees_describe "$1" 'Measurement functions')" ;;
    gbees-plugin:backend) _gbees_offer "$4" "$(_gbees_list "$1" Backends)" ;;
    gbees-plot:format) _gbees_offer "$4" $'png\npdf\nsvg' ;;
    *:plugin-path) _gbees_folders "${4##*:}" ;;
    *)
        case $3 in
        *FILE.*) _gbees_files "$4" ".${3##*.}" ;;
        *FILE*) _gbees_files "$4" '*' ;;
        *DIR*) _gbees_folders "$4" ;;
        *) _gbees_offer "$4" "$(tr '|' '\n' <<<"$3" | grep -xE '[a-z]+')" ;;
        esac
        ;;
    esac
}

# What stands alone: a run's folder, or what gbees-plugin is to do and to which file.
_gbees_argument() # PROGRAM WORD
{
    local word action=
    for word in "${words[@]:1:${#words[@]}-2}"; do
        case $word in
        new | build | check) action=${action:-$word} ;;
        esac
    done
    case ${1##*/}:$action in
    gbees-plot: | gbees-export:) _gbees_folders "$2" ;;
    gbees-plugin:) _gbees_offer "$2" $'new\nbuild\ncheck' ;;
    gbees-plugin:build) _gbees_files "$2" .c .cc .cpp .cxx ;;
    gbees-plugin:check)
        _gbees_offer "$2" "$(_gbees_list "$1" Plugins)"
        _gbees_files "$2" .so
        ;;
    esac
}

_gbees() # PROGRAM
{
    local words current name='' value=- program=${1/#\~/$HOME}

    COMPREPLY=()
    _gbees_words
    case $current in
    --*=*)
        read -r name value < <(_gbees_find "$program" "${current%%=*}")
        current=${current#*=}
        ;;
    *) [[ ${#words[@]} -gt 2 && ${words[-2]} == -* ]] && read -r name value < <(_gbees_find "$program" "${words[-2]}") ;;
    esac
    if [[ ${value:--} != - ]]; then
        _gbees_value "$program" "$name" "$value" "$current"
    elif [[ $current == -* || ${program##*/} == gbees-run ]]; then
        _gbees_offer "$current" "$(_gbees_options "$program" | awk '{ print "--" $2 }')"
    else
        _gbees_argument "$program" "$current"
    fi
    # Bash replaces only what is behind the last '=' or ':'.
    if [[ $current == *[=:]* && $COMP_WORDBREAKS == *=* && $name != plugin-path ]]; then
        COMPREPLY=("${COMPREPLY[@]#"${current%"${current##*[=:]}"}"}")
    fi
}

complete -F _gbees gbees-run gbees-plot gbees-export gbees-plugin

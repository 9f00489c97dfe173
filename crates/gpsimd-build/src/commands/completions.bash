
_gpsimd_build_words() {
    local cur prev words="" word library="" line="${COMP_LINE:0:COMP_POINT}"
    cur="${line##*[[:space:]]}"
    prev="${line%"$cur"}"
    read -r -a word <<<"$prev"
    prev="${word[-1]:-}"
    case "${word[1]:-}" in
        explain) words="$("$1" completions bash --words codes 2>/dev/null)" ;;
        run | test)
            if [[ "$prev" == --op ]]; then
                for word in "${word[@]:2}"; do
                    [[ "$word" != -* ]] && library="$word" && break
                done
                words="$("$1" completions bash --words ops --library "$library" 2>/dev/null)"
            fi
            ;;
    esac
    if [[ -z "$words" ]]; then
        _gpsimd__build "$@"
        return
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
    # what stands before the last colon is on the line already, and stays there
    if [[ "$cur" == *:* && "$COMP_WORDBREAKS" == *:* ]]; then
        COMPREPLY=("${COMPREPLY[@]#"${cur%"${cur##*:}"}"}")
    fi
}
complete -F _gpsimd_build_words -o bashdefault -o default gpsimd-build

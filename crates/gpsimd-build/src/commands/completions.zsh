#compdef gpsimd-build

_gpsimd_build_ops() {
    local word
    local -a ops
    for word in "${words[@]}"; do
        [[ "$word" == (-*|run|test) ]] && continue
        ops=(${(f)"$(_call_program ops gpsimd-build completions zsh --words ops --library "${(q)word}" 2>/dev/null)"})
        break
    done
    compadd -a ops
}


function __gpsimd_build_ops
    set -l words (commandline -opc)
    for word in $words[3..-1]
        if not string match -q -- '-*' $word
            $words[1] completions fish --words ops --library $word 2>/dev/null
            return
        end
    end
end
complete -c gpsimd-build -n "__fish_gpsimd_build_using_subcommand run" -l op -xa "(__gpsimd_build_ops)"
complete -c gpsimd-build -n "__fish_gpsimd_build_using_subcommand test" -l op -xa "(__gpsimd_build_ops)"
complete -c gpsimd-build -n "__fish_gpsimd_build_using_subcommand explain" -xa "(gpsimd-build completions fish --words codes)"

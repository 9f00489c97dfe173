Print the helpers for kernels (gpsimd/kit.hpp) as one header, to copy into a project

Usage: gpsimd-build kit [OPTIONS]

Options:
  -h, --help
          Print help (see a summary with '-h')

  -V, --version
          Print version

Output:
      --json
          Print one JSON answer on standard output instead of text; its schemas are in docs/json

  -v, --verbose...
          Show each command as it runs; twice for the tool's own log

      --color <WHEN>
          When to use colour

          Possible values:
          - auto:   If the output is a terminal
          - always: Always
          - never:  Never
          
          [default: auto]

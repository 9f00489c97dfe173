//! `man`: manual pages from the argument definitions.

use clap::CommandFactory as _;
use miette::Result;

use super::{Files, Status};
use crate::cli::{Cli, Man};
use crate::files::{FileError, create_directory, write};
use crate::render::Render;

/// Writes one page per command.
pub fn run(arguments: &Man, render: &Render) -> Result<Status> {
    create_directory(&arguments.dir)?;
    let mut pages = Vec::new();
    for (name, page) in pages_of(Cli::command()).map_err(FileError::of("write", &arguments.dir))? {
        let path = arguments.dir.join(name);
        write(&path, &page)?;
        pages.push(path);
    }
    let document = Files { files: pages };
    render.result(&document, || {
        document.files.iter().map(|page| format!("{}\n", page.display())).collect::<String>()
    })?;
    Ok(Status::Good)
}

/// `gpsimd-build.1`, `gpsimd-build-compile.1`, … with their texts; hidden commands and `help` have no page.
fn pages_of(mut command: clap::Command) -> std::io::Result<Vec<(String, Vec<u8>)>> {
    // after this, every command knows its parents' options and its whole name
    command.build();
    let mut pages = Vec::new();
    let mut waiting = vec![command];
    while let Some(command) = waiting.pop() {
        let hidden = |sub: &&clap::Command| !sub.is_hide_set() && sub.get_name() != "help";
        waiting.extend(command.get_subcommands().filter(hidden).cloned());
        let man = clap_mangen::Man::new(command);
        let mut page = Vec::new();
        man.render(&mut page)?;
        pages.push((man.get_filename(), page));
    }
    pages.sort();
    Ok(pages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page_with_its_options() {
        let pages = pages_of(Cli::command()).expect("memory takes it");
        let text = |name: &str| {
            let page = pages.iter().find(|(file, _)| file == name).map(|(_, page)| page.clone());
            String::from_utf8(page.unwrap_or_else(|| panic!("no {name}"))).expect("text")
        };
        assert!(text("gpsimd-build.1").contains("Exit codes"));
        let compile = text("gpsimd-build-compile.1");
        for word in [r"\-\-multicore", r"\-\-depfile", r"\-\-json", "Examples"] {
            assert!(compile.contains(word), "no {word}\n{compile}");
        }
        assert!(text("gpsimd-build-toolchain-install.1").contains("GPSIMD_BUILD_HOME"));
        assert!(!pages.iter().any(|(name, _)| name.contains("check-kernels") || name.contains("help")));
    }
}

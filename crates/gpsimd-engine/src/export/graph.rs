//! The plan as a graph in Graphviz's language: boxes are actions, arrows what one makes for another.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::path::Path;

use crate::plan::Plan;
use crate::words::action::Work;

/// Text for `dot`.
pub fn graph(plan: &Plan) -> String {
    let mut text = "digraph plan {\n  rankdir=LR\n  node [shape=box fontname=sans]\n".to_owned();
    let mut maker: HashMap<&Path, usize> = HashMap::new();
    for (index, action) in plan.actions.iter().enumerate() {
        let colour = match &action.work {
            Work::Process(_) => "lightblue",
            Work::Stage(_) => "white",
        };
        let label = action.label.replace('\\', "\\\\").replace('"', "\\\"");
        let _ = writeln!(text, "  a{index} [label=\"{label}\" style=filled fillcolor={colour}]");
        let before: BTreeSet<usize> =
            action.inputs.iter().filter_map(|input| maker.get(input.as_path()).copied()).collect();
        for made_by in before {
            let _ = writeln!(text, "  a{made_by} -> a{index}");
        }
        maker.extend(action.outputs.iter().map(|output| (output.as_path(), index)));
    }
    let _ = writeln!(text, "  publish [style=filled fillcolor=palegreen]");
    let last: BTreeSet<usize> = plan
        .publication
        .finished()
        .chain(plan.report.clone())
        .filter_map(|file| maker.get(file.as_path()).copied())
        .collect();
    for made_by in last {
        let _ = writeln!(text, "  a{made_by} -> publish");
    }
    text.push_str("}\n");
    text
}

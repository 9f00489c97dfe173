//! Which actions wait for which, and which should start first.
//!
//! Unaware of threads. The longest way to the end goes first: durations come from the last run, guesses stand in.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::time::Duration;

use crate::words::action::{Action, Work};
use crate::words::error::EngineError;

/// The order of a set of actions.
#[derive(Debug)]
pub(crate) struct Graph {
    /// Actions that read what this one writes.
    pub(crate) dependents: Vec<Vec<usize>>,
    /// How many actions make inputs of this one.
    pub(crate) waiting_for: Vec<usize>,
    /// Time from the start of this action to the end of the last one that needs it.
    pub(crate) way: Vec<Duration>,
}

impl Graph {
    /// `took` tells what an action took last time.
    ///
    /// # Errors
    /// [`EngineError::PlanIncomplete`] when an input is neither made before nor there.
    pub(crate) fn new(
        actions: &[Action],
        took: impl Fn(&Action) -> Option<Duration>,
    ) -> Result<Graph, EngineError> {
        let maker: HashMap<&Path, usize> = actions
            .iter()
            .enumerate()
            .flat_map(|(index, action)| action.outputs.iter().map(move |output| (output.as_path(), index)))
            .collect();
        let mut dependents = vec![Vec::new(); actions.len()];
        let mut waiting_for = vec![0; actions.len()];
        for (index, action) in actions.iter().enumerate() {
            let mut needs = BTreeSet::new();
            for input in &action.inputs {
                match maker.get(input.as_path()) {
                    // a later maker would wait for itself: plans are written in a runnable order
                    Some(&made_by) if made_by < index => {
                        needs.insert(made_by);
                    }
                    Some(_) => return Err(EngineError::PlanIncomplete { path: input.clone() }),
                    None if input.exists() => {}
                    None => return Err(EngineError::PlanIncomplete { path: input.clone() }),
                }
            }
            waiting_for[index] = needs.len();
            for made_by in needs {
                dependents[made_by].push(index);
            }
        }
        let mut way = vec![Duration::ZERO; actions.len()];
        for (index, action) in actions.iter().enumerate().rev() {
            let after = dependents[index].iter().map(|&dependent| way[dependent]).max().unwrap_or_default();
            way[index] = after.saturating_add(took(action).unwrap_or_else(|| guess(action)));
        }
        Ok(Graph { dependents, waiting_for, way })
    }
}

/// A first guess: compilers take longest, and longer for a longer source.
fn guess(action: &Action) -> Duration {
    let size = || action.inputs.first().and_then(|path| path.metadata().ok()).map_or(0, |file| file.len());
    match &action.work {
        Work::Process(_) if action.depfile.is_some() => Duration::from_millis(100 + size() / 100),
        Work::Process(_) => Duration::from_millis(50),
        Work::Stage(_) => Duration::from_millis(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpsimd_toolchain::Command;

    fn action(inputs: &[&str], output: &str) -> Action {
        Action {
            label: output.to_owned(),
            inputs: inputs.iter().map(Into::into).collect(),
            outputs: vec![output.into()],
            depfile: None,
            work: Work::Process(Command::new("cc")),
        }
    }

    #[test]
    fn the_longest_way_is_known() {
        let actions = [action(&[], "a"), action(&[], "b"), action(&["a"], "c"), action(&["b", "c"], "d")];
        let took = |action: &Action| match action.label.as_str() {
            "b" => Some(Duration::from_secs(5)),
            _ => Some(Duration::from_secs(1)),
        };
        let graph = Graph::new(&actions, took).expect("a good plan");
        assert_eq!(graph.waiting_for, [0, 0, 1, 2]);
        assert_eq!(graph.way.iter().map(Duration::as_secs).collect::<Vec<_>>(), [3, 6, 2, 1]);
    }

    #[test]
    fn a_file_nobody_makes_is_a_defect() {
        for actions in [vec![action(&["/no/such"], "a")], vec![action(&["b"], "a"), action(&[], "b")]] {
            let error = Graph::new(&actions, |_| None).expect_err("incomplete");
            assert!(matches!(error, EngineError::PlanIncomplete { .. }));
        }
    }
}

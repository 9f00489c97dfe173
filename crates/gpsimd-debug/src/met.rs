//! What a halt means: which breakpoints are met, which of them stop, and what the others say.
//!
//! Unaware of how cores are taken on.

use gpsimd_device::cores::paused::{Halt, Touched};
use gpsimd_device::cores::run::Ended;

use crate::engine::{Debugger, Stopped};
use crate::stops::What;

impl Debugger<'_> {
    /// Whether a halt is a stop; if not, the core may go on.
    pub(crate) fn judge(&mut self, core: usize, halt: Halt, ids: &[u32]) -> Option<Stopped> {
        match halt {
            Halt::Reached => None,
            Halt::Stopped => Some(Stopped::Paused),
            Halt::Trap => {
                let pc = self.pc(core);
                let met: Vec<u32> =
                    self.stops.iter().filter(|known| known.is_at(core, pc)).map(|known| known.id).collect();
                let met = self.meet(core, &met);
                self.stand(core);
                (!met.is_empty()).then_some(Stopped::Breakpoint(met))
            }
            Halt::Touched(touched) => {
                let met: Vec<u32> =
                    touched.ranges.iter().filter_map(|range| ids.get(*range).copied()).collect();
                let id = self.meet(core, &met).first().copied()?;
                Some(self.watched(core, id, &touched))
            }
            Halt::Incident => self.finding(core),
            Halt::Ended => match self.ended(core) {
                None | Some(Ended::Returned(0)) => None,
                Some(ended) => Some(Stopped::Failed(failure(ended))),
            },
        }
    }

    /// What happened to watched bytes.
    pub(crate) fn watched(&mut self, core: usize, id: u32, touched: &Touched) -> Stopped {
        let bytes = self.stops.iter().find_map(|known| match known.what {
            What::Bytes { place, len, .. } if known.id == id => Some((place, len)),
            _ => None,
        });
        let values = bytes.map_or_else(Default::default, |(place, len)| {
            let now = self.session.read(core, place, len);
            (self.shown(place, &touched.before), self.shown(place, &now))
        });
        Stopped::Watch { id, chain: self.chain_at(core, touched.pc), values }
    }

    /// Counts a hit of these breakpoints; those that are to stop.
    fn meet(&mut self, core: usize, ids: &[u32]) -> Vec<u32> {
        let mut stopping = Vec::new();
        for id in ids {
            let Some(known) = self.stops.iter().find(|known| known.id == *id) else { continue };
            if let Some(condition) = known.condition.clone() {
                match self.evaluate((core, 0), &condition) {
                    Ok(value) if !value.is_true() => continue,
                    Ok(_) => {}
                    // a condition that cannot be told does not hide a stop
                    Err(error) => self.output.push(format!("condition of breakpoint {id}: {error}\n")),
                }
            }
            let Some(known) = self.stops.iter_mut().find(|known| known.id == *id) else { continue };
            known.count += 1;
            if !known.hits.counts(known.count) {
                continue;
            }
            match known.message.clone() {
                Some(message) => {
                    let message = self.filled((core, 0), &message);
                    let text =
                        format!("P{}: {message}\n", self.session.core(core).map_or(0, |core| core.core()));
                    self.output.push(text);
                }
                None => stopping.push(*id),
            }
        }
        self.stops.retain(|known| !known.is_once || !stopping.contains(&known.id));
        stopping
    }
}

/// How a call ended that did not return.
fn failure(ended: &Ended) -> String {
    match ended {
        Ended::Returned(status) => format!("the kernel returned {status}"),
        Ended::Aborted => "the program ended itself".to_owned(),
        Ended::Judged => "a check of the build ended the program".to_owned(),
        Ended::Fault(fault) => fault.kind.to_string(),
        Ended::Budget | Ended::Idle(_) => "it would not end".to_owned(),
        Ended::Cancelled => "it was stopped".to_owned(),
    }
}

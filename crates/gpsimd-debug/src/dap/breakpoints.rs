//! Breakpoints as editors set them: all of a kind at once, in place of those before.
//!
//! Unaware of what a stop does.

use emmy_dap_types::requests::{
    DataBreakpointInfoArguments, SetBreakpointsArguments, SetDataBreakpointsArguments,
    SetExceptionBreakpointsArguments, SetFunctionBreakpointsArguments, SetInstructionBreakpointsArguments,
};
use emmy_dap_types::responses::{
    BreakpointLocationsResponse, DataBreakpointInfoResponse, SetBreakpointsResponse,
};
use emmy_dap_types::types::{Breakpoint as Shown, BreakpointLocation, DataBreakpointAccessType};
use gpsimd_device::cores::bus::Place;
use serde_json::Value;

use super::answer::{Answer, arguments, body};
use super::reference::Reference;
use super::session::Conversation;
use super::wire::Request;
use crate::memory::{Named, number};
use crate::stops::{Hits, What};

/// What makes a breakpoint stop, besides its place.
struct When<'w> {
    condition: Option<&'w str>,
    hits: Option<&'w str>,
    message: Option<String>,
}

impl Conversation<'_, '_> {
    /// Takes away what was set under a name.
    fn clear(&mut self, owner: &str) {
        for id in self.owned.remove(owner).unwrap_or_default() {
            // one that was met once may be gone
            let _ = self.debugger.remove(id);
        }
    }

    /// Sets one; what the editor shows of it.
    fn set(&mut self, owner: &str, what: What, when: When<'_>) -> Shown {
        let refused = |message: String| Shown { verified: false, message: Some(message), ..Shown::default() };
        let hits =
            match when.hits.filter(|hits| !hits.trim().is_empty()).map(|hits| (Hits::parse(hits), hits)) {
                None => Hits::All,
                Some((Some(hits), _)) => hits,
                Some((None, text)) => return refused(format!("{text:?} is no count: 3, >= 3 or % 3")),
            };
        let known = match self.debugger.add(what) {
            Ok(known) => known,
            Err(error) => return refused(error.to_string()),
        };
        known.hits = hits;
        known.condition = when.condition.filter(|text| !text.trim().is_empty()).map(str::to_owned);
        known.message = when.message;
        let (id, line) = (known.id, known.line);
        let reference = known.places.iter().flatten().next().map(|at| format!("{at:#x}"));
        self.owned.entry(owner.to_owned()).or_default().push(id);
        Shown {
            id: Some(i64::from(id)),
            verified: true,
            line: line.map(i64::from),
            instruction_reference: reference,
            ..Shown::default()
        }
    }

    pub(super) fn set_breakpoints(&mut self, request: &Request) -> Answer {
        let asked: SetBreakpointsArguments = arguments(request)?;
        let file = asked.source.path.or(asked.source.name).unwrap_or_default();
        let owner = format!("source {file}");
        self.clear(&owner);
        let mut breakpoints = Vec::new();
        for wanted in asked.breakpoints.unwrap_or_default() {
            let line = u32::try_from(wanted.line).unwrap_or(0);
            let when = When {
                condition: wanted.condition.as_deref(),
                hits: wanted.hit_condition.as_deref(),
                message: wanted.log_message.clone(),
            };
            let mut shown = self.set(&owner, What::Line(file.clone(), line), when);
            shown.source = Some(self.source(&file));
            breakpoints.push(shown);
        }
        body(SetBreakpointsResponse { breakpoints })
    }

    pub(super) fn set_function_breakpoints(&mut self, request: &Request) -> Answer {
        let asked: SetFunctionBreakpointsArguments = arguments(request)?;
        self.clear("functions");
        let mut breakpoints = Vec::new();
        for wanted in asked.breakpoints {
            let when = When {
                condition: wanted.condition.as_deref(),
                hits: wanted.hit_condition.as_deref(),
                message: None,
            };
            breakpoints.push(self.set("functions", What::Function(wanted.name.clone()), when));
        }
        body(SetBreakpointsResponse { breakpoints })
    }

    pub(super) fn set_instruction_breakpoints(&mut self, request: &Request) -> Answer {
        let asked: SetInstructionBreakpointsArguments = arguments(request)?;
        self.clear("instructions");
        let mut breakpoints = Vec::new();
        for wanted in asked.breakpoints {
            let at = number(&wanted.instruction_reference)
                .map(|at| at.wrapping_add_signed(wanted.offset.unwrap_or(0)));
            let at = at.and_then(|at| u32::try_from(at).ok());
            let when = When {
                condition: wanted.condition.as_deref(),
                hits: wanted.hit_condition.as_deref(),
                message: None,
            };
            breakpoints.push(match at {
                Some(at) => self.set("instructions", What::Address(at), when),
                None => Shown { message: Some("no address".to_owned()), ..Shown::default() },
            });
        }
        body(SetBreakpointsResponse { breakpoints })
    }

    /// What can be watched: a variable of those shown, an element of a tensor, an expression, an address.
    pub(super) fn data_breakpoint_info(&mut self, request: &Request) -> Answer {
        let asked: DataBreakpointInfoArguments = arguments(request)?;
        let known = asked.variables_reference.and_then(|number| self.reference(number).cloned());
        let (at, text) = match &known {
            Some(Reference::Tensors) => (self.at(None)?, asked.name.clone()),
            Some(Reference::Tensor(region)) => {
                let name = self.debugger.session.regions().get(*region).map(|region| region.name.clone());
                (self.at(None)?, format!("{}{}", name.unwrap_or_default(), asked.name))
            }
            Some(reference) => (reference.at(), self.path_of(reference, &asked.name)?),
            None => (self.at(asked.frame_id)?, asked.name.clone()),
        };
        let (core, frame) = (self.debugger.current, self.debugger.frame);
        (self.debugger.current, self.debugger.frame) = at;
        let named = self.debugger.named(&text);
        (self.debugger.current, self.debugger.frame) = (core, frame);
        let response = match named {
            Ok(Named { place, len, is_shared }) => DataBreakpointInfoResponse {
                data_id: Some(identity(place, len, (!is_shared).then_some(at.0), &text)),
                description: text,
                access_types: Some(vec![
                    DataBreakpointAccessType::Read,
                    DataBreakpointAccessType::Write,
                    DataBreakpointAccessType::ReadWrite,
                ]),
                ..DataBreakpointInfoResponse::default()
            },
            Err(error) => DataBreakpointInfoResponse {
                description: error.to_string(),
                ..DataBreakpointInfoResponse::default()
            },
        };
        body(response)
    }

    pub(super) fn set_data_breakpoints(&mut self, request: &Request) -> Answer {
        let asked: SetDataBreakpointsArguments = arguments(request)?;
        self.clear("data");
        let mut breakpoints = Vec::new();
        for wanted in asked.breakpoints {
            let (reads, writes) = match wanted.access_type {
                Some(DataBreakpointAccessType::Read) => (true, false),
                Some(DataBreakpointAccessType::ReadWrite) => (true, true),
                _ => (false, true),
            };
            let when = When {
                condition: wanted.condition.as_deref(),
                hits: wanted.hit_condition.as_deref(),
                message: None,
            };
            breakpoints.push(match known(&wanted.data_id) {
                Some((place, len, core, text)) => {
                    self.set("data", What::Bytes { text, place, len, core, reads, writes }, when)
                }
                None => Shown { message: Some("no data".to_owned()), ..Shown::default() },
            });
        }
        body(SetBreakpointsResponse { breakpoints })
    }

    pub(super) fn set_exception_breakpoints(&mut self, request: &Request) -> Answer {
        let asked: SetExceptionBreakpointsArguments = arguments(request)?;
        self.debugger.stop_on_finding(asked.filters.iter().any(|filter| filter == "finding"));
        Ok(serde_json::json!({ "breakpoints": [] }))
    }

    pub(super) fn breakpoint_locations(&mut self, request: &Request) -> Answer {
        let text = |at: &str| request.arguments.pointer(at).and_then(Value::as_str).unwrap_or_default();
        let line = |name: &str| {
            request.arguments.get(name).and_then(Value::as_u64).and_then(|line| u32::try_from(line).ok())
        };
        let first = line("line").unwrap_or(1);
        let last = line("endLine").unwrap_or(first);
        let program = self.debugger.program(0);
        let lines = program.map(|program| program.lines_with_code(text("/source/path"), first..=last));
        let breakpoints = lines.unwrap_or_default().into_iter();
        let location = |line| BreakpointLocation { line: i64::from(line), ..BreakpointLocation::default() };
        body(BreakpointLocationsResponse { breakpoints: breakpoints.map(location).collect() })
    }
}

/// Memory as a text that an editor keeps.
fn identity(place: Place, len: usize, core: Option<usize>, text: &str) -> String {
    let (kind, index, offset) = match place {
        Place::Tensor(region, offset) => ("tensor", region, offset),
        Place::Image(offset) => ("image", 0, offset),
        Place::Scratch(offset) => ("scratch", 0, offset),
        Place::Dataram(offset) => ("dataram", 0, offset),
        Place::Apb(_) | Place::Nowhere => ("nowhere", 0, 0),
    };
    let core = core.map_or_else(|| "-".to_owned(), |core| core.to_string());
    format!("{kind} {index} {offset} {len} {core} {text}")
}

/// The memory of such a text.
fn known(identity: &str) -> Option<(Place, usize, Option<usize>, String)> {
    let mut parts = identity.splitn(6, ' ');
    let (kind, index) = (parts.next()?, parts.next()?.parse().ok()?);
    let (offset, len) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let core = match parts.next()? {
        "-" => None,
        core => Some(core.parse().ok()?),
    };
    let place = match kind {
        "tensor" => Place::Tensor(index, offset),
        "image" => Place::Image(offset),
        "scratch" => Place::Scratch(offset),
        "dataram" => Place::Dataram(offset),
        _ => return None,
    };
    Some((place, len, core, parts.next()?.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_known_by_its_text() {
        let rows = [(Place::Tensor(2, 396), 4, None, "out[99]"), (Place::Dataram(64), 8, Some(3), "a b")];
        for (place, len, core, text) in rows {
            let read = known(&identity(place, len, core, text));
            assert_eq!(read, Some((place, len, core, text.to_owned())));
        }
        assert_eq!(known("tensor x"), None);
    }
}

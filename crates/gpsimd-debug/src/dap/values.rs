//! Scopes, variables and expressions as editors unfold them.
//!
//! A number stands for something that can be unfolded until the cores move. Unaware of what values are made of.

use emmy_dap_types::requests::{
    EvaluateArguments, ScopesArguments, SetExpressionArguments, SetVariableArguments, VariablesArguments,
};
use emmy_dap_types::responses::{
    CompletionsResponse, EvaluateResponse, ScopesResponse, SetExpressionResponse, SetVariableResponse,
    VariablesResponse,
};
use emmy_dap_types::types::{
    CompletionItem, EvaluateArgumentsContext, Scope, ScopePresentationhint, Variable as Shown,
};
use gpsimd_device::cores::bus::Place;
use gpsimd_variables::{Value, Variable};

use super::answer::{Answer, arguments, body};
use super::reference::Reference;
use super::session::Conversation;
use super::wire::Request;
use crate::device::Part;
use crate::error::DebugError;
use crate::memory::number;
use crate::track::Edit;

/// Children that are shown when an editor does not say how many.
const MOST: usize = 1000;

impl Conversation<'_, '_> {
    fn number_of(&mut self, reference: Reference) -> i64 {
        self.references.push(reference);
        self.references.len() as i64
    }

    pub(super) fn reference(&self, number: i64) -> Option<&Reference> {
        self.references.get(usize::try_from(number - 1).ok()?)
    }

    pub(super) fn scopes(&mut self, request: &Request) -> Answer {
        let asked: ScopesArguments = arguments(request)?;
        let at = self.at(Some(asked.frame_id))?;
        let rows = [
            ("Arguments", Some(ScopePresentationhint::Arguments), Reference::Arguments(at), false),
            ("Locals", Some(ScopePresentationhint::Locals), Reference::Locals(at), false),
            ("Tensors", None, Reference::Tensors, false),
            ("Globals", None, Reference::Globals(at), true),
            ("Registers", Some(ScopePresentationhint::Registers), Reference::Registers(at), true),
            ("Device", None, Reference::Device(at), true),
        ];
        let scopes = rows.map(|(name, hint, reference, expensive)| Scope {
            name: name.to_owned(),
            presentation_hint: hint,
            variables_reference: self.number_of(reference),
            expensive,
            ..Scope::default()
        });
        body(ScopesResponse { scopes: scopes.into() })
    }

    pub(super) fn variables(&mut self, request: &Request) -> Answer {
        let asked: VariablesArguments = arguments(request)?;
        let wrong = || DebugError::Arguments {
            request: request.command.clone(),
            reason: format!("nothing has the number {}", asked.variables_reference),
        };
        let reference = self.reference(asked.variables_reference).cloned().ok_or_else(wrong)?;
        let start = asked.start.and_then(|start| u64::try_from(start).ok()).unwrap_or(0);
        let count = asked.count.and_then(|count| usize::try_from(count).ok()).filter(|count| *count > 0);
        let count = count.unwrap_or(MOST);
        let variables = match reference {
            Reference::Arguments(at) => {
                let found = self.debugger.scopes(at)?.arguments;
                found.into_iter().map(|variable| self.shown(at, variable)).collect()
            }
            Reference::Locals(at) => {
                let found = self.debugger.scopes(at)?.locals;
                found.into_iter().map(|variable| self.shown(at, variable)).collect()
            }
            Reference::Globals(at) => {
                let found = self.debugger.scopes(at)?.globals;
                found.into_iter().map(|variable| self.shown(at, variable)).collect()
            }
            Reference::Value(at, value, path) => {
                let found = self.debugger.children(at, (&value, path.as_deref()), start, count)?;
                found.into_iter().map(|variable| self.shown(at, variable)).collect()
            }
            Reference::Registers(at) => self.registers(at),
            Reference::Device((core, _)) => {
                let parts = self.debugger.device(core);
                self.parts(parts)
            }
            Reference::Parts(parts) => self.parts(parts),
            Reference::Tensors => self.tensors(),
            Reference::Tensor(region) => self.elements(region, start, count),
        };
        body(VariablesResponse { variables })
    }

    /// A variable, with a number if it can be unfolded.
    fn shown(&mut self, at: (usize, usize), variable: Variable) -> Shown {
        let Variable { name, path, value, .. } = variable;
        let children = value.children as i64;
        let (named, indexed) = if value.is_indexed { (None, Some(children)) } else { (Some(children), None) };
        let mut shown = plain(&name, value.summary.clone());
        shown.type_field = Some(value.type_name.clone());
        shown.evaluate_name = path.clone();
        shown.memory_reference = reference_of(&value);
        if children > 0 {
            (shown.named_variables, shown.indexed_variables) = (named, indexed);
            shown.variables_reference = self.number_of(Reference::Value(at, Box::new(value), path));
        }
        shown
    }

    fn registers(&mut self, (core, frame): (usize, usize)) -> Vec<Shown> {
        let Some(found) = self.debugger.stack(core).into_iter().nth(frame) else { return Vec::new() };
        let pc = std::iter::once(plain("pc", format!("{:#010x}", found.level.pc)));
        let registers = found.level.registers.iter().enumerate().map(|(number, value)| {
            let value = value.map_or_else(|| "not known".to_owned(), |value| format!("{value:#010x}"));
            let mut shown = plain(&format!("a{number}"), value);
            shown.evaluate_name = Some(format!("$a{number}"));
            shown
        });
        pc.chain(registers).collect()
    }

    fn parts(&mut self, parts: Vec<Part>) -> Vec<Shown> {
        let shown = |Part { name, value, parts }: Part| {
            let mut shown = plain(&name, value);
            if !parts.is_empty() {
                shown.named_variables = Some(parts.len() as i64);
                shown.variables_reference = self.number_of(Reference::Parts(parts));
            }
            shown
        };
        parts.into_iter().map(shown).collect()
    }

    fn tensors(&mut self) -> Vec<Shown> {
        let regions = self.debugger.session.regions().iter();
        let rows: Vec<_> =
            regions.map(|region| (region.name.clone(), region.spec.clone(), region.base)).collect();
        let mut all = Vec::new();
        for (index, (name, spec, base)) in rows.into_iter().enumerate() {
            let count = spec.byte_len() / spec.dtype.size() as u64;
            let mut shown = plain(&name, spec.to_string());
            shown.indexed_variables = Some(count as i64);
            shown.memory_reference = Some(format!("{base:#x}"));
            shown.variables_reference = self.number_of(Reference::Tensor(index));
            all.push(shown);
        }
        all
    }

    /// Elements of a tensor, as the core that the session stopped on sees them.
    fn elements(&mut self, region: usize, start: u64, count: usize) -> Vec<Shown> {
        let Some(spec) = self.debugger.session.regions().get(region).map(|region| region.spec.clone()) else {
            return Vec::new();
        };
        let size = spec.dtype.size();
        let place = Place::Tensor(region, start as usize * size);
        let bytes = self.debugger.session.read(self.debugger.current, place, count.saturating_mul(size));
        let elements = bytes.data.chunks_exact(size).zip(bytes.is_set.chunks_exact(size)).zip(start..);
        let element = |((data, set), index): ((&[u8], &[bool]), u64)| {
            let is_set = set.iter().all(|set| *set);
            plain(&format!("[{index}]"), if is_set { spec.dtype.show(data) } else { "nothing".to_owned() })
        };
        elements.map(element).collect()
    }

    /// The expression for a child of something that was unfolded.
    pub(super) fn path_of(&mut self, reference: &Reference, name: &str) -> Result<String, DebugError> {
        let Reference::Value(at, value, path) = reference else { return Ok(name.to_owned()) };
        let children = self.debugger.children(*at, (value, path.as_deref()), 0, MOST)?;
        let child = children.into_iter().find(|child| child.name == name);
        child.and_then(|child| child.path).ok_or_else(|| DebugError::Memory { text: name.to_owned() })
    }

    pub(super) fn set_variable(&mut self, request: &Request) -> Answer {
        let asked: SetVariableArguments = arguments(request)?;
        let wrong = || DebugError::Memory { text: asked.name.clone() };
        let reference = self.reference(asked.variables_reference).cloned().ok_or_else(wrong)?;
        let value = match &reference {
            Reference::Registers((core, 0)) => {
                let register = asked.name.strip_prefix('a').and_then(|digits| digits.parse().ok());
                let value = number(&asked.value).and_then(|value| u32::try_from(value).ok());
                let (register, value) = register.zip(value).ok_or_else(wrong)?;
                self.debugger.edit(*core, Edit::Register(register, value));
                format!("{value:#010x}")
            }
            Reference::Tensor(region) => {
                let region = *region;
                let index = asked.name.trim_matches(['[', ']']).parse::<usize>().map_err(|_| wrong())?;
                let spec = self.debugger.session.regions().get(region).ok_or_else(wrong)?.spec.clone();
                let bytes = spec.dtype.read(asked.value.trim()).ok_or_else(wrong)?;
                let place = Place::Tensor(region, index * spec.dtype.size());
                let text = spec.dtype.show(&bytes);
                if !self.debugger.edit(self.debugger.current, Edit::Memory(place, bytes)) {
                    return Err(wrong());
                }
                text
            }
            Reference::Registers(_) | Reference::Device(_) | Reference::Parts(_) | Reference::Tensors => {
                return Err(wrong());
            }
            reference => {
                let path = self.path_of(reference, &asked.name)?;
                self.debugger.assign(reference.at(), &path, &asked.value)?.summary
            }
        };
        body(SetVariableResponse { value, ..SetVariableResponse::default() })
    }

    pub(super) fn set_expression(&mut self, request: &Request) -> Answer {
        let asked: SetExpressionArguments = arguments(request)?;
        let at = self.at(asked.frame_id)?;
        let value = self.debugger.assign(at, &asked.expression, &asked.value)?;
        body(SetExpressionResponse {
            value: value.summary,
            type_field: Some(value.type_name),
            ..SetExpressionResponse::default()
        })
    }

    pub(super) fn evaluate(&mut self, request: &Request) -> Answer {
        let asked: EvaluateArguments = arguments(request)?;
        let at = self.at(asked.frame_id)?;
        let text = asked.expression.trim();
        let value = match self.debugger.evaluate(at, text) {
            Ok(value) => value,
            Err(error) if matches!(asked.context, Some(EvaluateArgumentsContext::Repl)) => {
                // what is no expression may be a command of the terminal that moves nothing
                let (core, frame) = (self.debugger.current, self.debugger.frame);
                (self.debugger.current, self.debugger.frame) = at;
                let answer = self.debugger.look(text);
                (self.debugger.current, self.debugger.frame) = (core, frame);
                return match answer {
                    Some(answer) => body(EvaluateResponse { result: answer?, ..EvaluateResponse::default() }),
                    None => Err(error),
                };
            }
            Err(error) => return Err(error),
        };
        let (named, indexed) = match value.is_indexed {
            true => (None, Some(value.children as i64)),
            false => (Some(value.children as i64), None),
        };
        let mut response = EvaluateResponse {
            result: value.summary.clone(),
            type_field: Some(value.type_name.clone()),
            memory_reference: reference_of(&value),
            ..EvaluateResponse::default()
        };
        if value.children > 0 {
            (response.named_variables, response.indexed_variables) = (named, indexed);
            response.variables_reference =
                self.number_of(Reference::Value(at, Box::new(value), Some(text.to_owned())));
        }
        body(response)
    }

    pub(super) fn completions(&mut self, request: &Request) -> Answer {
        let text = request.arguments.get("text").and_then(serde_json::Value::as_str).unwrap_or_default();
        let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
        let word = text.rsplit(|letter: char| !is_part(letter)).next().unwrap_or_default();
        let frame = request.arguments.get("frameId").and_then(serde_json::Value::as_i64);
        let at = self.at(frame)?;
        let scopes = self.debugger.scopes(at)?;
        let variables = scopes.arguments.into_iter().chain(scopes.locals).map(|variable| variable.name);
        let tensors = self.debugger.session.regions().iter().map(|region| region.name.clone());
        let mut names: Vec<String> = variables.chain(tensors).filter(|name| name.starts_with(word)).collect();
        names.sort();
        names.dedup();
        let targets = names.into_iter().map(|label| CompletionItem { label, ..CompletionItem::default() });
        body(CompletionsResponse { targets: targets.collect() })
    }
}

fn plain(name: &str, value: String) -> Shown {
    Shown { name: name.to_owned(), value, ..Shown::default() }
}

/// Where a value lies, as memory is asked for.
fn reference_of(value: &Value) -> Option<String> {
    let near = value.address.map(|address| format!("{address:#x}"));
    near.or_else(|| value.device_address.map(|address| format!("{address:#x}")))
}

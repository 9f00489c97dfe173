//! What instrumented code asks of the simulator: the handlers of checked builds stop here.
//!
//! Each of `sdk/src/checked/handlers.S` puts a number into a8 and stops; arguments are where the caller left them.
//! Unaware of wording and of source lines.

use crate::checked::{Verdict, verdict};
use crate::cores::run::{Ended, Running};
use crate::report::checks::Code;

/// Added to the number of a handler that does not return.
const NO_RETURN: u32 = 0x40;
/// Bytes around a block of `alloca` that become redzones, and to which its end is rounded.
const ALLOCA_REDZONE: u32 = 32;
/// Longest function name.
const NAME_LIMIT: usize = 32;
/// Longest range that is looked through.
const RANGE_LIMIT: u32 = 32 << 20;

impl Running<'_, '_> {
    /// Answers the handler that the core stopped in; how the run ends, if it does.
    pub(crate) fn serve_checked(&mut self) -> Option<Ended> {
        let number = self.cpu.ar(8);
        let arguments: [u32; 4] = [2, 3, 4, 5].map(|register| self.cpu.ar(register));
        let [a2, a3, a4, a5] = arguments;
        let memory = &mut *self.bus.memory;
        match number {
            1 => {
                for (at, len) in memory.register_globals(a2, a3) {
                    memory.seal(at, len);
                }
            }
            2 | 8 | 9 => {}
            3 => memory.open_stack_above(self.cpu.ar(1)),
            4 | 10 => memory.seal(a2, a3),
            5 | 11 => memory.unseal(a2, a3),
            6 => {
                let end = a2.wrapping_add(a3);
                let rounded = end.wrapping_add(ALLOCA_REDZONE - 1) & !(ALLOCA_REDZONE - 1);
                memory.seal(a2.wrapping_sub(ALLOCA_REDZONE), ALLOCA_REDZONE);
                memory.seal(end, rounded.wrapping_sub(end) + ALLOCA_REDZONE);
            }
            7 if a2 != 0 && a2 < a3 => memory.unseal(a2, a3 - a2),
            7 => {}
            12 => {
                let is_redzone = memory.is_redzone(a2);
                self.cpu.set_ar(2, is_redzone.into());
            }
            13 => {
                let mut range = a2..a2.saturating_add(a3.min(RANGE_LIMIT));
                let first = range.find(|addr| memory.is_redzone(*addr)).unwrap_or(0);
                self.cpu.set_ar(2, first);
            }
            14 | 15 => self.judge_pair(number == 14, a2, a3),
            16 => {
                let name = memory.string(a2, NAME_LIMIT);
                let distance = a3.abs_diff(a4);
                let message =
                    format!("{name} copies {a5} bytes to a range that overlaps them, {distance} bytes away");
                self.accuse(Verdict { code: Code::MemoryOverlap, message });
            }
            // a container's memory up to `a3` holds elements up to `a5`, before up to `a4`
            17 if a5 < a4 => memory.seal(a5, a4 - a5),
            17 => memory.unseal(a4, a5 - a4),
            _ => match verdict(number & !NO_RETURN, [a2, a3, a4], memory) {
                Some(verdict) => {
                    self.accuse(verdict);
                    if number & NO_RETURN != 0 {
                        return Some(Ended::Judged);
                    }
                }
                None => return Some(Ended::Aborted),
            },
        }
        None
    }

    /// Two pointers are compared or subtracted: into one object, one hopes.
    fn judge_pair(&mut self, is_compared: bool, first: u32, second: u32) {
        let memory = &*self.bus.memory;
        let object = |addr: u32| memory.variable_at(addr).map(|variable| variable.start);
        if let (Some(one), Some(other)) = (object(first), object(second))
            && one != other
        {
            let verb = if is_compared { "compared" } else { "subtracted" };
            let message = format!("pointers into different objects are {verb}: {first:#x} and {second:#x}");
            self.accuse(Verdict { code: Code::PointerPair, message });
        }
    }

    /// Notes a verdict with the call chain that led to its handler.
    fn accuse(&mut self, verdict: Verdict) {
        let chain = self.chain();
        self.record.log.judge(verdict, chain);
    }
}

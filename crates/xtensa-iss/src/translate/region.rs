//! What is translated at a time: blocks that reach each other without calls, and which of their registers live in host
//! registers.
//!
//! A region is entered at its first block only. A guest register has one host register all through it, or none; what has to
//! be loaded on entry and what has to be written back where, follows from reads and writes. Unaware of host instructions.

use std::collections::{HashMap, HashSet};

use super::Blocks;
use crate::isa::{Access, Field, Flow, Insn, Kind, Op};
use crate::native::Routine;

/// Most blocks and instructions of a region.
const MAX_NODES: usize = 48;
const MAX_INSNS: usize = 600;
/// How often a loop's body is thought to run.
const LOOP_WEIGHT: u32 = 8;

/// Address registers, one bit each.
pub(super) type Registers = u16;

/// A block, as far as it can be translated.
#[derive(Debug)]
pub(super) struct Node {
    pub pc: u32,
    pub insns: Vec<Insn>,
    /// Address behind the block, or of the first instruction that is not translated.
    pub end: u32,
    /// Whether the instructions from `end` on belong to the block, and are interpreted.
    pub is_cut: bool,
    /// Whether a zero-overhead loop may end here, and where it probably begins.
    pub looping: Option<Option<u32>>,
    /// Registers that may have been written since the region was entered, and those that have been, whatever way led here.
    pub dirty: Registers,
    pub written: Registers,
}

#[derive(Debug)]
pub(super) struct Region {
    /// The first one is the entry, the others follow by address.
    pub nodes: Vec<Node>,
    by_pc: HashMap<u32, usize>,
    /// Registers that live in host registers, the most used first.
    pub mapped: Vec<u8>,
    /// Those of them that hold something on entry that is needed.
    pub loaded: Registers,
    /// What the host may do instead of the function that is entered.
    pub routine: Option<Routine>,
}

impl Region {
    /// The region entered at `pc`, with `hosts` host registers; `None` if not even its first instruction is translated.
    pub fn collect(blocks: &impl Blocks, pc: u32, hosts: usize) -> Option<Region> {
        let mut nodes: Vec<Node> = Vec::new();
        let (mut waiting, mut seen, mut insns) = (vec![pc], HashSet::new(), 0);
        while let Some(pc) = waiting.pop() {
            if nodes.len() >= MAX_NODES || insns >= MAX_INSNS || !seen.insert(pc) {
                continue;
            }
            let is_entry = nodes.is_empty();
            let Some(node) = Node::new(blocks, pc, is_entry) else {
                if is_entry {
                    return None;
                }
                continue;
            };
            insns += node.insns.len();
            // The likelier way last: it is taken up first.
            waiting.extend(node.successors());
            nodes.push(node);
        }
        if let Some(others) = nodes.get_mut(1..) {
            others.sort_by_key(|node| node.pc);
        }
        let by_pc = nodes.iter().enumerate().map(|(n, node)| (node.pc, n)).collect();
        let mut region = Region { nodes, by_pc, mapped: Vec::new(), loaded: 0, routine: blocks.routine(pc) };
        region.choose(hosts);
        region.flow();
        Some(region)
    }

    /// The node at an address, if control can go there without leaving the region.
    pub fn node(&self, pc: u32) -> Option<usize> {
        self.by_pc.get(&pc).copied().filter(|n| !self.nodes.get(*n).is_some_and(Node::begins_function))
    }

    pub fn mask(&self) -> Registers {
        self.mapped.iter().fold(0, |mask, r| mask | 1 << r)
    }

    /// Chooses the registers that are used most.
    fn choose(&mut self, hosts: usize) {
        let mut back: Vec<(u32, u32)> = Vec::new();
        for node in &self.nodes {
            back.extend(node.successors().filter(|to| *to <= node.pc).map(|to| (to, node.pc)));
        }
        let mut weights = [0u32; 16];
        for node in &self.nodes {
            let is_inner = back.iter().any(|(from, to)| (*from..=*to).contains(&node.pc));
            let weight = if is_inner { LOOP_WEIGHT } else { 1 };
            for insn in &node.insns {
                let Uses { reads, writes } = Uses::of(insn);
                for (r, sum) in weights.iter_mut().enumerate() {
                    *sum += weight * (u32::from(reads >> r & 1) + u32::from(writes >> r & 1));
                }
            }
        }
        let mut order: Vec<u8> = (0..16).filter(|r| weights[usize::from(*r)] > 0).collect();
        order.sort_by_key(|r| std::cmp::Reverse(weights[usize::from(*r)]));
        order.truncate(hosts);
        self.mapped = order;
    }

    /// Which registers are dirty and written where, to the fixed point.
    fn flow(&mut self) {
        let mask = self.mask();
        for node in self.nodes.iter_mut().skip(1) {
            node.written = mask;
        }
        let mut changed = true;
        while changed {
            changed = false;
            for n in 0..self.nodes.len() {
                let (successors, writes, dirty, written): (Vec<u32>, _, _, _) = {
                    let node = &self.nodes[n];
                    (node.successors().collect(), node.writes() & mask, node.dirty, node.written)
                };
                let targets: Vec<usize> = successors.into_iter().filter_map(|pc| self.node(pc)).collect();
                for to in targets {
                    let node = &mut self.nodes[to];
                    let new = (node.dirty | dirty | writes, node.written & (written | writes));
                    changed |= new != (node.dirty, node.written);
                    (node.dirty, node.written) = new;
                }
            }
        }
        // Read before written on some way, or perhaps written where all that is perhaps written is stored.
        let mut loaded = 0;
        for node in &self.nodes {
            let (mut dirty, mut written) = (node.dirty, node.written);
            loaded |= dirty & !written;
            for insn in &node.insns {
                let Uses { reads, writes } = Uses::of(insn);
                loaded |= (reads | told(insn)) & !written;
                dirty |= writes;
                written |= writes;
                loaded |= dirty & !written;
            }
        }
        self.loaded = loaded & mask;
    }
}

fn is_loop(op: Op) -> bool {
    matches!(op, Op::Loop | Op::Loopnez | Op::Loopgtz)
}

impl Node {
    fn new(blocks: &impl Blocks, pc: u32, is_entry: bool) -> Option<Node> {
        let (insns, end) = blocks.at(pc)?;
        let is_ours = |(n, insn): (usize, &Insn)| match insn.op {
            Op::Entry => n == 0 && is_entry && insn.s == 1,
            op => is_translated(op),
        };
        let count = insns.iter().enumerate().take_while(|(n, insn)| is_ours((*n, insn))).count();
        let cut = insns.get(count);
        if count == 0 {
            return None;
        }
        Some(Node {
            pc,
            insns: insns.get(..count)?.to_vec(),
            end: cut.map_or(end, |insn| insn.pc),
            is_cut: cut.is_some(),
            looping: if cut.is_none() { blocks.loop_start(end) } else { None },
            dirty: 0,
            written: 0,
        })
    }

    pub fn begins_function(&self) -> bool {
        self.insns.first().is_some_and(|insn| insn.op == Op::Entry)
    }

    /// The last instruction, if it decides where control goes.
    pub fn last(&self) -> Option<&Insn> {
        self.insns.last().filter(|insn| !self.is_cut && insn.row().flow == Flow::Ends)
    }

    /// Addresses that control may go to within the region, the likeliest last.
    fn successors(&self) -> impl Iterator<Item = u32> + use<> {
        let behind = (!self.is_cut).then_some(self.end);
        let (first, second) = match self.last() {
            Some(insn) => match insn.op {
                Op::J => (Some(insn.imm), None),
                Op::Loop => (None, behind),
                op if is_branch(op) => (behind, Some(insn.imm)),
                Op::Loopnez | Op::Loopgtz => (Some(insn.imm), behind),
                _ => (None, None),
            },
            None => (None, behind),
        };
        let looped = self.looping.flatten();
        [second.filter(|_| looped.is_some()), first, looped.or(second)].into_iter().flatten()
    }

    fn writes(&self) -> Registers {
        self.insns.iter().fold(0, |writes, insn| writes | Uses::of(insn).writes)
    }
}

/// Address registers that an instruction reads and writes within its window.
#[derive(Debug, Clone, Copy)]
pub(super) struct Uses {
    pub reads: Registers,
    pub writes: Registers,
}

impl Uses {
    pub fn of(insn: &Insn) -> Uses {
        let mut uses = Uses { reads: 0, writes: 0 };
        // ENTRY is done before registers are loaded; calls write registers that are nobody's afterwards.
        if insn.op == Op::Entry {
            return uses;
        }
        for operand in insn.row().operands() {
            let bit = match operand.kind {
                Kind::Ar(Field::R) => 1 << (insn.r & 15),
                Kind::Ar(Field::S) => 1 << (insn.s & 15),
                Kind::Ar(Field::T) => 1 << (insn.t & 15),
                // CALL0 writes a0 itself, after everything was stored.
                Kind::A0 if operand.access != Access::In => 0,
                Kind::A0 => 1,
                Kind::A1 => 2,
                _ => 0,
            };
            match operand.access {
                Access::In => uses.reads |= bit,
                Access::Out => uses.writes |= bit,
                Access::InOut => {
                    uses.reads |= bit;
                    uses.writes |= bit;
                }
            }
        }
        uses
    }
}

/// Registers that are not the instruction's, but told with it: the stack pointer with a refused access.
fn told(insn: &Insn) -> Registers {
    let accesses = insn.row().operands().iter().any(|operand| matches!(operand.kind, Kind::Memory(_)));
    if accesses { 2 } else { 0 }
}

/// Whether it is a conditional branch on address registers.
pub(super) fn is_branch(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        Beqz | Bnez
            | Bltz
            | Bgez
            | BeqzN
            | BnezN
            | Beqi
            | Bnei
            | Blti
            | Bgei
            | Bltui
            | Bgeui
            | Beq
            | Bne
            | Blt
            | Bge
            | Bltu
            | Bgeu
            | Bany
            | Bnone
            | Ball
            | Bnall
            | Bbc
            | Bbs
            | Bbci
            | Bbsi
    )
}

/// Whether an instruction has a translation; the others are interpreted. ENTRY has one at the start of a region only.
fn is_translated(op: Op) -> bool {
    use Op::*;
    is_branch(op)
        || is_loop(op)
        || matches!(
            op,
            Add | Addx2
                | Addx4
                | Addx8
                | Sub
                | Subx2
                | Subx4
                | Subx8
                | AddN
                | And
                | Or
                | Xor
                | Neg
                | Abs
                | AddiSp
                | AddmiSp
                | AddiNSp
                | Addi
                | Addmi
                | AddiN
                | Movi
                | MoviN
                | MovN
                | Const16
                | Sext
                | Min
                | Max
                | Minu
                | Maxu
                | Nsa
                | Nsau
                | Moveqz
                | Movnez
                | Movltz
                | Movgez
                | Mull
                | Muluh
                | Mulsh
                | Mul16u
                | Mul16s
                | Quou
                | Quos
                | Remu
                | Rems
                | Ssr
                | Ssl
                | Ssa8l
                | Ssai
                | Sll
                | Srl
                | Sra
                | Src
                | Slli
                | Srli
                | Srai
                | Extui
                | L8ui
                | L16ui
                | L16si
                | L32i
                | L32iN
                | L32ai
                | L32r
                | S8i
                | S16i
                | S32i
                | S32iN
                | S32ri
                | Nop
                | NopN
                | Isync
                | Rsync
                | Esync
                | Dsync
                | Excw
                | Memw
                | Extw
                | J
                | Jx
                | Call0
                | Call4
                | Call8
                | Call12
                | Callx0
                | Callx4
                | Callx8
                | Callx12
                | Ret
                | RetN
                | Retw
                | RetwN
        )
}

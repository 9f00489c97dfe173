//! Everything that can be wrong with the ops of one library, all at once.
//!
//! Unaware of files and compilers. Rules: spec codegen.md §2, §5, §7, §10 D6–D8.

use crate::error::CodegenError;
use crate::names::{self, MAX_KERNEL_NAME};
use crate::op::{Op, ParamDecl};
use gpsimd_schema::MAX_RECORDS;
use std::collections::HashMap;

/// Ops in one library (spec codegen.md §7).
pub const MAX_OPS: usize = 10;

/// Largest stack, in bytes, that the device headers accept (spec codegen.md §5).
pub const MAX_STACK_SIZE: u64 = 0x40_0000;

/// What the wrapper appends to a kernel's name for functions of its own (spec codegen.md §4.2).
const SUFFIXES: [&str; 2] = ["_wrapper", "_stack_switch"];

/// Finds everything that is wrong with the ops of one library, in their order.
pub fn check(ops: &[Op]) -> Vec<CodegenError> {
    let mut errors = Vec::new();
    if ops.is_empty() {
        errors.push(CodegenError::NoOps { allowed: MAX_OPS });
    }
    if ops.len() > MAX_OPS {
        errors.push(CodegenError::TooManyOps { found: ops.len(), allowed: MAX_OPS });
    }
    let mut generated = HashMap::new();
    for (other, op) in ops.iter().enumerate() {
        for suffix in SUFFIXES {
            generated.insert(format!("{}{suffix}", op.kernel), other);
        }
    }
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for (index, op) in ops.iter().enumerate() {
        let kernel = || op.kernel.clone();
        errors.extend(check_name(index, &op.kernel));
        match seen.get(op.kernel.as_str()) {
            Some(first) => {
                errors.push(CodegenError::DuplicateKernel { first: *first, index, kernel: kernel() })
            }
            None => _ = seen.insert(&op.kernel, index),
        }
        errors.extend(check_generated_names(index, &op.kernel));
        if let Some(other) = generated.get(&op.kernel) {
            let base = ops.get(*other).map_or_else(String::new, |op| op.kernel.clone());
            errors.push(CodegenError::NameCollision { index, kernel: kernel(), other: *other, base });
        }
        check_params(index, op, &mut errors);
    }
    errors
}

/// Pairs kernel names with schemas, by position.
///
/// # Errors
/// [`CodegenError::CountMismatch`] when there are more of one than of the other.
pub fn pair<'a, K, S>(kernels: &'a [K], schemas: &'a [S]) -> Result<Vec<(&'a K, &'a S)>, CodegenError> {
    match kernels.len() == schemas.len() {
        true => Ok(kernels.iter().zip(schemas).collect()),
        false => Err(CodegenError::CountMismatch { kernels: kernels.len(), schemas: schemas.len() }),
    }
}

/// Whether the device headers accept this `STACK_SIZE`, in bytes.
///
/// # Errors
/// [`CodegenError::StackSize`] above [`MAX_STACK_SIZE`].
pub fn check_stack_size(found: u64) -> Result<(), CodegenError> {
    match found > MAX_STACK_SIZE {
        true => Err(CodegenError::StackSize { found, allowed: MAX_STACK_SIZE }),
        false => Ok(()),
    }
}

fn check_name(index: usize, kernel: &str) -> Option<CodegenError> {
    let owned = || kernel.to_owned();
    let found = kernel.chars().count();
    if !names::is_identifier(kernel) {
        Some(CodegenError::BadKernelName { index, kernel: owned() })
    } else if names::is_keyword(kernel) {
        Some(CodegenError::Keyword { index, kernel: owned() })
    } else if let Some(why) = names::reserved(kernel) {
        Some(CodegenError::ReservedName { index, kernel: owned(), why })
    } else if found > MAX_KERNEL_NAME {
        Some(CodegenError::NameTooLong { index, kernel: owned(), found, allowed: MAX_KERNEL_NAME })
    } else {
        None
    }
}

/// The functions that the wrapper defines must not overload one of the runtime's either: their address is taken.
fn check_generated_names(index: usize, kernel: &str) -> Option<CodegenError> {
    let generated = SUFFIXES.map(|suffix| format!("{kernel}{suffix}"));
    let taken = generated.into_iter().find(|name| names::reserved(name).is_some())?;
    Some(CodegenError::GeneratedName { index, kernel: kernel.to_owned(), taken })
}

fn check_params(index: usize, op: &Op, errors: &mut Vec<CodegenError>) {
    let kernel = || op.kernel.clone();
    let params = &op.signature.params;
    if params.is_empty() {
        errors.push(CodegenError::NoArguments { index, kernel: kernel() });
    }
    let found = op.signature.records();
    if found > MAX_RECORDS {
        errors.push(CodegenError::TooManyRecords { index, kernel: kernel(), found, allowed: MAX_RECORDS });
    }
    if op.decls.len() != params.len() {
        let (found, expected) = (op.decls.len(), params.len());
        errors.push(CodegenError::DeclarationCount { index, kernel: kernel(), found, expected });
        return;
    }
    for (param, (decl, arg)) in op.decls.iter().zip(params).enumerate() {
        if !decl.takes(arg.ty) {
            errors.push(CodegenError::DeclarationType {
                index,
                kernel: kernel(),
                param,
                ty: arg.ty.to_string(),
                declared: decl.to_string(),
                choices: ParamDecl::choices(arg.ty)
                    .map(|decl| format!("`{decl}`"))
                    .collect::<Vec<_>>()
                    .join(", "),
            });
        }
    }
}

//! From a schema to the signature that a device can run, or every reason why none exists.
//!
//! Unaware of C++ and of kernels. Type map: spec codegen.md §3.4; limits: §7 and customop-abi.md §5.5.

use crate::ast::{DefaultValue, FunctionSchema, Parameter};
use crate::refusal::{LowerError, Note};
use crate::signature::{ArgType, MAX_ARGUMENTS, MAX_RECORDS, Param, Signature};
use crate::type_parser::nearest;
use crate::types::{Base, Type, TypeKind};

/// The device signature of a schema.
///
/// Defaults on accepted types are kept in [`Param::default`] for whoever calls the op; see [`notes`].
///
/// # Errors
/// All that the device cannot do, in the order of the text.
pub fn lower(schema: &FunctionSchema) -> Result<Signature, Vec<LowerError>> {
    let mut errors = Vec::new();
    let op = &schema.name.name;
    if schema.name.namespace.is_none() {
        errors.push(match &schema.name.overload {
            // torch.ops.ns.op, written as in Python
            Some(overload) => LowerError::DottedName {
                namespace: op.text.clone(),
                op: overload.text.clone(),
                at: op.span.to(overload.span),
            },
            None => LowerError::NoNamespace { op: op.text.clone(), at: op.span },
        });
    }
    let params = schema.params.iter().filter_map(|param| lower_param(param, &mut errors)).collect();
    check_list(schema, &mut errors);
    let result = lower_returns(schema, &mut errors);
    match &schema.name.namespace {
        Some(namespace) if errors.is_empty() => Ok(Signature {
            namespace: namespace.text.clone(),
            op: op.text.clone(),
            overload: schema.name.overload.as_ref().map(|name| name.text.clone()),
            params,
            result,
        }),
        _ => Err(errors),
    }
}

/// What is accepted, but worth saying.
pub fn notes(schema: &FunctionSchema) -> Vec<Note> {
    let note = |param: &Parameter| {
        let default = param.default.as_ref()?;
        let (name, value) = (param.name.text.clone(), default.value.to_string());
        Some(Note::DefaultKept { name, value, at: default.span })
    };
    schema.params.iter().filter_map(note).collect()
}

fn lower_param(param: &Parameter, errors: &mut Vec<LowerError>) -> Option<Param> {
    let name = &param.name.text;
    check_alias(param, errors);
    let ty = match arg_type(&param.ty, name) {
        Ok(ty) => ty,
        Err(error) => {
            errors.push(error);
            return None;
        }
    };
    if let Some(default) = &param.default {
        errors.extend(check_default(name, ty, default));
    }
    let default = param.default.as_ref().map(|default| default.value.clone());
    Some(Param { name: Some(name.clone()), ty, default })
}

/// Looks for an alias annotation anywhere in the type; a write counts more than a view.
fn check_alias(param: &Parameter, errors: &mut Vec<LowerError>) {
    let mut aliases = Vec::new();
    let mut todo = vec![&param.ty];
    while let Some(ty) = todo.pop() {
        aliases.extend(&ty.alias);
        todo.extend(ty.children());
    }
    let (name, ty, at) = (param.name.text.clone(), param.ty.to_string(), param.ty.span);
    let plain = without_aliases(&param.ty).to_string();
    if aliases.iter().any(|alias| alias.is_write()) {
        errors.push(LowerError::AliasWrite { name, ty, plain, at });
    } else if !aliases.is_empty() {
        errors.push(LowerError::Alias { name, ty, plain, at });
    }
}

fn without_aliases(ty: &Type) -> Type {
    let boxed = |ty: &Type| Box::new(without_aliases(ty));
    let each = |items: &[Type]| items.iter().map(without_aliases).collect();
    let kind = match &ty.kind {
        TypeKind::Tuple(items) => TypeKind::Tuple(each(items)),
        TypeKind::Union(items) => TypeKind::Union(each(items)),
        TypeKind::Handle { handle, item } => TypeKind::Handle { handle: *handle, item: boxed(item) },
        TypeKind::Dict { key, value } => TypeKind::Dict { key: boxed(key), value: boxed(value) },
        TypeKind::List { item, size } => TypeKind::List { item: boxed(item), size: *size },
        TypeKind::Optional(inner) => TypeKind::Optional(boxed(inner)),
        TypeKind::Base(_) | TypeKind::Variable(_) | TypeKind::Class(_) => ty.kind.clone(),
    };
    Type { kind, alias: None, span: ty.span }
}

fn arg_type(ty: &Type, name: &str) -> Result<ArgType, LowerError> {
    let (at, name, text) = (ty.span, name.to_owned(), without_aliases(ty).to_string());
    let base = match &ty.kind {
        TypeKind::Base(base) => *base,
        TypeKind::List { .. } => return Err(LowerError::List { name, ty: text, at }),
        TypeKind::Optional(inner) => {
            let plain = without_aliases(inner).to_string();
            return Err(LowerError::Optional { name, ty: text, plain, at });
        }
        TypeKind::Tuple(_) | TypeKind::Dict { .. } | TypeKind::Union(_) => {
            return Err(LowerError::Compound { name, ty: text, at });
        }
        TypeKind::Handle { .. } | TypeKind::Class(_) => {
            return Err(LowerError::HostObject { name, ty: text, at });
        }
        TypeKind::Variable(variable) => {
            let help = match nearest(variable) {
                Some(base) => format!("did you mean `{}`? Types are spelled exactly so", base.name()),
                None => "write the type that the kernel takes".to_owned(),
            };
            return Err(LowerError::TypeVariable { name, ty: text, help, at });
        }
    };
    Err(match base {
        Base::Tensor => return Ok(ArgType::Tensor),
        Base::Scalar | Base::Number => return Ok(ArgType::Scalar),
        Base::Int => return Ok(ArgType::Int),
        Base::Float => return Ok(ArgType::Float),
        Base::LongLong => return Ok(ArgType::LongLong),
        Base::Bool => LowerError::Bool { name, at },
        Base::Str => LowerError::Str { name, at },
        Base::Complex => LowerError::Complex { name, at },
        Base::SymInt => LowerError::Symbolic { name, ty: text, plain: "int", at },
        Base::SymFloat => LowerError::Symbolic { name, ty: text, plain: "float", at },
        Base::SymBool => LowerError::Symbolic { name, ty: text, plain: "int", at },
        Base::Device | Base::DeviceIndex | Base::DeviceObjType => LowerError::Device { name, at },
        Base::ScalarType => LowerError::Dtype { name, ty: text, at },
        Base::Layout | Base::MemoryFormat => LowerError::Layout { name, ty: text, at },
        Base::Generator
        | Base::Dimname
        | Base::Storage
        | Base::Stream
        | Base::StreamObjType
        | Base::QScheme
        | Base::Quantizer
        | Base::ConstQuantizerPtr
        | Base::NoneType
        | Base::Nothing
        | Base::Capsule
        | Base::PyObject
        | Base::Any
        | Base::AnyListType
        | Base::AnyTupleType
        | Base::AnyClassType
        | Base::AnyEnumType => LowerError::HostObject { name, ty: text, at },
    })
}

fn check_default(name: &str, ty: ArgType, default: &DefaultValue) -> Option<LowerError> {
    let value = &default.value;
    let (is_good, help) = match ty {
        ArgType::Tensor => (false, "a tensor has no default: remove it"),
        ArgType::Scalar => (value.as_f64().is_some(), "write a number"),
        ArgType::Float => (value.as_f64().is_some(), "write a number such as `0.5`"),
        ArgType::Int => (
            value.as_i64().is_some_and(|value| i32::try_from(value).is_ok()),
            "write an integer of 32 bits, -2147483648 to 2147483647; wider ones need `long long`",
        ),
        ArgType::LongLong => (value.as_i64().is_some(), "write an integer of 64 bits"),
    };
    (!is_good).then(|| LowerError::DefaultValue {
        name: name.to_owned(),
        value: value.to_string(),
        ty: ty.to_string(),
        help: help.to_owned(),
        at: default.span,
    })
}

/// What concerns the parameters as a list: how many, their names, their order.
fn check_list(schema: &FunctionSchema, errors: &mut Vec<LowerError>) {
    let op = || schema.name.name.text.clone();
    if schema.params.is_empty() && schema.vararg.is_none() {
        errors.push(LowerError::NoArguments { op: op(), at: schema.name.name.span });
    }
    if let Some(param) = schema.params.get(MAX_ARGUMENTS) {
        let (found, at) = (schema.params.len(), param.span());
        errors.push(LowerError::TooManyArguments { op: op(), found, allowed: MAX_RECORDS, at });
    }
    if let Some(at) = schema.vararg {
        errors.push(LowerError::Vararg { at });
    }
    let keyword_only: Vec<&Parameter> = schema.params.iter().filter(|param| param.is_keyword_only).collect();
    if let [first, .., last] | [first @ last] = keyword_only.as_slice() {
        let names: Vec<String> = keyword_only.iter().map(|param| format!("`{}`", param.name)).collect();
        errors.push(LowerError::KeywordOnly { names: names.join(", "), at: first.span().to(last.span()) });
    }
    let mut seen = std::collections::HashMap::new();
    for param in &schema.params {
        let (name, at) = (param.name.text.clone(), param.name.span);
        if let Some(first) = seen.insert(name.clone(), at) {
            errors.push(LowerError::DuplicateArgument { name, first, at });
        }
    }
    let positional = schema.params.iter().filter(|param| !param.is_keyword_only);
    for param in
        positional.skip_while(|param| param.default.is_none()).filter(|param| param.default.is_none())
    {
        errors.push(LowerError::DefaultOrder { name: param.name.text.clone(), at: param.span() });
    }
}

fn lower_returns(schema: &FunctionSchema, errors: &mut Vec<LowerError>) -> Option<String> {
    let (op, at) = (schema.name.name.text.clone(), schema.returns.span);
    if schema.returns.vararg.is_some() {
        errors.push(LowerError::VarargResult { op, at });
        return None;
    }
    match schema.returns.items.as_slice() {
        [] => errors.push(LowerError::NoResult { op, at }),
        [only] if matches!(only.ty.kind, TypeKind::Base(Base::Nothing | Base::NoneType)) => {
            errors.push(LowerError::NoResult { op, at });
        }
        [only] => {
            if only.ty.kind == TypeKind::Base(Base::Tensor) && only.ty.alias.is_none() {
                return only.name.as_ref().map(|name| name.text.clone());
            }
            errors.push(LowerError::ResultType { op, ty: only.ty.to_string(), at: only.ty.span });
        }
        items => errors.push(LowerError::ManyResults { op, found: items.len(), at }),
    }
    None
}

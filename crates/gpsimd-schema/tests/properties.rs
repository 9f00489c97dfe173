//! Any schema prints to text that parses to the same schema; any bytes parse or are refused, and never panic.

use gpsimd_schema::fuzz::fuzz_schema;
use gpsimd_schema::*;
use proptest::prelude::*;

fn word() -> impl Strategy<Value = String> {
    "[a-zA-Z_][a-zA-Z0-9_]{0,8}"
}

fn ident() -> impl Strategy<Value = Ident> {
    word().prop_map(Ident::new)
}

/// A lower-case name that the parser takes for no other type.
fn variable() -> impl Strategy<Value = String> {
    "t[A-Z0-9]{0,4}"
}

fn alias_set() -> impl Strategy<Value = AliasSet> {
    prop_oneof![Just(AliasSet::Wildcard), ident().prop_map(AliasSet::Named)]
}

fn alias() -> impl Strategy<Value = Option<Alias>> {
    let sets =
        (prop::collection::vec(alias_set(), 1..3), any::<bool>(), prop::collection::vec(alias_set(), 0..3));
    prop_oneof![
        4 => Just(None),
        1 => Just(Some(Alias::Fresh)),
        2 => sets.prop_map(|(before, is_write, after)| Some(Alias::Sets { before, is_write, after })),
    ]
}

fn with_alias(kind: TypeKind, alias: Option<Alias>) -> Type {
    Type { kind, alias, span: Span::default() }
}

fn plain(kind: TypeKind) -> Type {
    with_alias(kind, None)
}

fn ty() -> impl Strategy<Value = Type> {
    let leaf = prop_oneof![
        4 => prop::sample::select(Base::ALL).prop_map(TypeKind::Base),
        1 => variable().prop_map(TypeKind::Variable),
        1 => prop::collection::vec(word(), 1..4).prop_map(|path| TypeKind::Class(format!("__torch__.{}", path.join(".")))),
    ];
    let leaf = (leaf, alias()).prop_map(|(kind, alias)| with_alias(kind, alias));
    leaf.prop_recursive(4, 12, 3, |inner| {
        let items = prop::collection::vec(inner.clone(), 0..3);
        let boxed = inner.prop_map(Box::new);
        prop_oneof![
            items.clone().prop_map(|items| plain(TypeKind::Tuple(items))),
            items.prop_map(|items| plain(TypeKind::Union(items))),
            (prop::sample::select(Handle::ALL), boxed.clone())
                .prop_map(|((_, handle), item)| plain(TypeKind::Handle { handle, item })),
            (boxed.clone(), boxed.clone(), alias())
                .prop_map(|(key, value, alias)| with_alias(TypeKind::Dict { key, value }, alias)),
            (boxed.clone(), any::<Option<u32>>(), alias())
                .prop_map(|(item, size, alias)| with_alias(TypeKind::List { item, size }, alias)),
            boxed.prop_map(|item| plain(TypeKind::Optional(item))),
        ]
    })
}

fn literal() -> impl Strategy<Value = Literal> {
    let float =
        prop_oneof!["-?[0-9]{1,4}\\.[0-9]{0,4}", "-?\\.[0-9]{1,4}", "-?[0-9]{1,3}[eE][-+]?[0-9]{1,2}"];
    let quoted = prop_oneof![
        (Just('\''), "([^'\\\\\n]|\\\\['nt\\\\x]){0,8}"),
        (Just('"'), "([^\"\\\\\n]|\\\\[\"nt\\\\x]){0,8}"),
    ];
    let leaf = prop_oneof![
        Just(Literal::None),
        any::<bool>().prop_map(Literal::Bool),
        "-?[0-9]{1,20}".prop_map(Literal::Int),
        float.prop_map(Literal::Float),
        "-?[0-9]{1,4}(\\.[0-9])?j".prop_map(Literal::Imaginary),
        quoted.prop_map(|(quote, body)| Literal::Str(Quoted { quote, body })),
        "[a-z_]{1,9}".prop_map(Literal::Word),
    ];
    leaf.prop_recursive(3, 8, 3, |inner| prop::collection::vec(inner, 0..3).prop_map(Literal::List))
}

fn parameter() -> impl Strategy<Value = Parameter> {
    (ty(), ident(), prop::option::of(literal())).prop_map(|(ty, name, default)| Parameter {
        ty,
        name,
        default: default.map(|value| DefaultValue { value, span: Span::default() }),
        is_keyword_only: false,
    })
}

fn returns() -> impl Strategy<Value = Returns> {
    let item = (ty(), prop::option::of(ident())).prop_map(|(ty, name)| Return { ty, name });
    (prop::collection::vec(item, 0..3), any::<bool>(), any::<bool>()).prop_map(
        |(items, dots, parentheses)| {
            let starts_with_parenthesis =
                items.first().is_some_and(|item| item.ty.to_string().starts_with('('));
            let is_parenthesised =
                parentheses || items.len() + usize::from(dots) != 1 || starts_with_parenthesis;
            Returns { items, vararg: dots.then(Span::default), is_parenthesised, span: Span::default() }
        },
    )
}

fn overload() -> impl Strategy<Value = Ident> {
    "[a-z][a-z0-9_]{0,8}".prop_filter("reserved", |name| name != "default").prop_map(Ident::new)
}

fn schema() -> impl Strategy<Value = FunctionSchema> {
    let name = (prop::option::of(ident()), ident(), prop::option::of(overload()))
        .prop_map(|(namespace, name, overload)| OpName { namespace, name, overload });
    let params = (prop::collection::vec(parameter(), 0..5), 0..8_usize);
    (name, params, any::<bool>(), returns()).prop_map(|(name, (mut params, star), dots, returns)| {
        for param in params.iter_mut().skip(star) {
            param.is_keyword_only = true;
        }
        FunctionSchema { name, params, vararg: dots.then(Span::default), returns }
    })
}

/// A signature that the device can run; the last arguments may have defaults.
fn device_signature() -> impl Strategy<Value = Signature> {
    let number =
        prop_oneof!["-?[0-9]{1,9}".prop_map(Literal::Int), "-?[0-9]{1,3}\\.5".prop_map(Literal::Float)];
    let param = (prop::sample::select(ArgType::ALL), number);
    let params = prop::collection::vec(param, 1..=MAX_ARGUMENTS);
    (word(), word(), prop::option::of(overload()), params, 0..10_usize, prop::option::of(word())).prop_map(
        |(namespace, op, overload, params, first_default, result)| {
            let first_default = match params.iter().rposition(|(ty, _)| *ty == ArgType::Tensor) {
                Some(tensor) => first_default.max(tensor + 1),
                None => first_default,
            };
            let param = |(index, (ty, number)): (usize, (ArgType, Literal))| {
                let default = match (ty, number) {
                    (ArgType::Int | ArgType::LongLong, Literal::Float(_)) => Literal::Int("-7".to_owned()),
                    (_, number) => number,
                };
                let default = (index >= first_default).then_some(default);
                Param { name: Some(format!("p{index}")), ty, default }
            };
            let params = params.into_iter().enumerate().map(param).collect();
            Signature { namespace, op, overload: overload.map(|name| name.text), params, result }
        },
    )
}

/// Text made of the pieces of schemas, in any order.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "ns",
        "::",
        "f",
        ".",
        "(",
        ")",
        "[",
        "]",
        ",",
        " ",
        "=",
        "*",
        "...",
        "->",
        "!",
        "|",
        "?",
        "-",
        "1",
        "2.5",
        "1e",
        "j",
        "'a'",
        "\"",
        "\\",
        "Tensor",
        "int",
        "long",
        "long long",
        "Dict",
        "Future",
        "Union",
        "__torch__",
        "None",
        "True",
        "Mean",
        "\n",
        "é",
        "&",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn what_is_printed_parses_to_the_same(schema in schema()) {
        let text = schema.to_string();
        let parsed = parse(&text).map_err(|e| TestCaseError::fail(format!("{text}: {e}")))?;
        prop_assert_eq!(parsed, schema, "{}", text);
    }

    #[test]
    fn lowering_gives_a_signature_or_reasons(schema in schema()) {
        match lower(&schema) {
            Ok(signature) => prop_assert!(signature.records() <= MAX_RECORDS),
            Err(errors) => prop_assert!(!errors.is_empty()),
        }
    }

    #[test]
    fn a_signature_prints_as_its_own_schema(found in device_signature()) {
        prop_assert_eq!(signature(&found.to_string()), Ok(found));
    }

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        fuzz_schema(&bytes);
    }

    #[test]
    fn any_pieces(text in pieces()) {
        fuzz_schema(text.as_bytes());
        if let Err(error) = parse(&text) {
            let span = error.cause.span();
            prop_assert!(span.start <= span.end && span.end <= text.len(), "{:?} outside {:?}", span, text);
            prop_assert!(text.is_char_boundary(span.start) && text.is_char_boundary(span.end));
        }
    }

    #[test]
    fn schemas_with_one_byte_changed(schema in schema(), at in any::<prop::sample::Index>(), byte: u8) {
        let mut bytes = schema.to_string().into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        fuzz_schema(&bytes);
    }
}

//! The schemas of all answers: `docs/json/COMMAND.json`, made from the types that the commands print.
//!
//! Unaware of how answers are printed. That real answers follow them, `tests/e2e/answers.rs` shows.

use std::path::{Path, PathBuf};

use clap::CommandFactory as _;
use schemars::transform::transform_subschemas;
use schemars::{JsonSchema, Schema, generate::SchemaSettings};
use serde_json::{Value, json};

use crate::answer::{Answer, VERSION};
use crate::cli::Cli;
use crate::commands::{
    Files, Sized, compile, doctor, explain, image, lsp, plan, prelink, run, schema, test, toolchain, verify,
};
use crate::render::Text;

/// The command of every schema. A command that writes a text or files only has the same form of result as others.
fn schemas() -> Vec<(&'static str, Schema)> {
    vec![
        ("new", of::<Files>()),
        ("compile", of::<compile::Document>()),
        ("plan", of::<plan::Document>()),
        ("codegen", of::<FilesOrText>()),
        ("lsp", of::<lsp::Document>()),
        ("pack", of::<image::Packed>()),
        ("unpack", of::<Sized>()),
        ("inspect", of::<image::Document>()),
        ("verify", of::<verify::Document>()),
        ("prelink", of::<prelink::Document>()),
        ("records load", of::<prelink::RecordsDocument>()),
        ("records unload", of::<prelink::RecordsDocument>()),
        ("run", of::<run::Document>()),
        ("test", of::<test::Document>()),
        ("toolchain install", of::<toolchain::Installed>()),
        ("toolchain export", of::<toolchain::Exported>()),
        ("toolchain wheel", of::<toolchain::Exported>()),
        ("toolchain show", of::<toolchain::Shown>()),
        ("doctor", of::<doctor::Document>()),
        ("schema", of::<schema::Document>()),
        ("integrations", of::<Files>()),
        ("kit", of::<Text>()),
        ("explain", of::<explain::Document>()),
        ("completions", of::<Text>()),
        ("man", of::<Files>()),
        ("stage", of::<Text>()),
    ]
}

/// `codegen` with `-o` or without.
#[derive(JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)] // only its schema is of interest
enum FilesOrText {
    /// What was written.
    Files(Files),
    /// What was printed.
    Text(Text),
}

fn of<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize().with_transform(closed);
    settings.into_generator().into_root_schema_for::<Answer<T>>()
}

/// A name that a schema does not have is a mistake of the schema: every object says that it is whole.
fn closed(schema: &mut Schema) {
    let is_object = schema.get("properties").is_some() && schema.get("type") == Some(&json!("object"));
    // where alternatives add names of their own, only all of it together could be said to be whole
    let is_alone = schema.get("oneOf").is_none() && schema.get("anyOf").is_none();
    if is_object && is_alone {
        schema.insert("additionalProperties".to_owned(), json!(false));
    }
    transform_subschemas(&mut closed, schema);
}

/// The schema as a page: which command it is for, and which version.
fn page(command: &str, mut schema: Schema) -> String {
    schema.insert("title".to_owned(), json!(format!("gpsimd-build --json {command}")));
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.insert("version".to_owned(), json!({ "const": VERSION }));
        properties.insert("command".to_owned(), json!({ "const": command }));
    }
    let fault = json!({ "required": ["error"], "properties": { "ok": { "const": false } } });
    let good = json!({ "required": ["result"], "properties": { "ok": { "const": true } }, "not": { "required": ["error"] } });
    schema.insert("oneOf".to_owned(), json!([good, fault]));
    format!("{:#}\n", schema.to_value())
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/json")
}

fn file(command: &str) -> PathBuf {
    directory().join(format!("{}.json", command.replace(' ', "-")))
}

/// `GPSIMD_UPDATE_DOCS=1 cargo test -p gpsimd-build schemas` writes them.
#[test]
fn the_schemas_are_current() {
    let is_update = std::env::var_os("GPSIMD_UPDATE_DOCS").is_some();
    let mut expected: Vec<PathBuf> = Vec::new();
    for (command, schema) in schemas() {
        let (path, text) = (file(command), page(command, schema));
        if is_update {
            std::fs::create_dir_all(directory()).expect("made");
            std::fs::write(&path, &text).expect("written");
        }
        let found = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            found == text,
            "{} is not current: GPSIMD_UPDATE_DOCS=1 cargo test -p gpsimd-build schemas",
            path.display()
        );
        expected.push(path);
    }
    let found = std::fs::read_dir(directory()).expect("docs/json").flatten().map(|entry| entry.path());
    let mut found: Vec<PathBuf> =
        found.filter(|path| path.extension().is_some_and(|ext| ext == "json")).collect();
    found.sort();
    expected.sort();
    assert_eq!(found, expected, "a schema for a command that there is not");
}

/// Every command has a schema.
#[test]
fn every_command_has_a_schema() {
    let schemas = schemas();
    let mut waiting = vec![(String::new(), Cli::command())];
    while let Some((name, command)) = waiting.pop() {
        let mut is_leaf = true;
        for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
            is_leaf = false;
            waiting.push((format!("{name} {}", sub.get_name()).trim().to_owned(), sub.clone()));
        }
        assert!(
            // one answers as the command that it runs, the other is a conversation
            !is_leaf
                || ["watch", "debug"].contains(&name.as_str())
                || schemas.iter().any(|(known, _)| *known == name),
            "{name}: give it a row in schemas()"
        );
    }
}

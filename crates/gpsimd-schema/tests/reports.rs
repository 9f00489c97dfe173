//! What people read: the rendered reports, and a code for every way to get the text wrong.

use gpsimd_schema::{Refusal, parse, signature};
use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme};

fn report(error: &dyn Diagnostic) -> String {
    let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor()).with_width(100);
    let mut text = String::new();
    handler.render_report(&mut text, error).expect("a String takes everything");
    text
}

fn refusal(text: &str) -> Refusal {
    signature(text).expect_err("the device cannot run it")
}

#[test]
fn syntax_errors_have_codes_and_columns() {
    let deep = format!("f({}int{} x) -> Tensor", "Future(".repeat(32), ")".repeat(32));
    let many_lists = format!("f(int{} x) -> Tensor", "[]".repeat(32));
    let deep_value = format!("f(int x={}1{}) -> Tensor", "[".repeat(32), "]".repeat(32));
    let long = format!("f(Tensor {}) -> Tensor", "a".repeat(70_000));
    let rows: &[(&str, &str, usize)] = &[
        ("", "schema::expected", 1),
        ("f", "schema::expected", 2),
        ("f(", "schema::expected", 3),
        ("f(Tensor", "schema::expected", 9),
        ("f(Tensor)", "schema::expected", 9),
        ("f(Tensor a", "schema::expected", 11),
        ("f(Tensor a,) -> Tensor", "schema::expected", 12),
        ("f(, Tensor a) -> Tensor", "schema::expected", 3),
        ("f(Tensor a Tensor b) -> Tensor", "schema::expected", 12),
        ("f(Tensor a)", "schema::expected", 12),
        ("f(Tensor a) ->", "schema::expected", 15),
        ("f(Tensor a) -> (Tensor", "schema::expected", 23),
        ("f(Tensor a) -> Tensor, Tensor", "schema::expected", 22),
        ("f(Tensor a) -> (Tensor)[]", "schema::expected", 24),
        ("f(Tensor a) - > Tensor", "schema::unexpected_character", 15),
        ("f(int x=) -> Tensor", "schema::expected", 9),
        ("f(int x=-) -> Tensor", "schema::expected", 10),
        ("f(int x=-Mean) -> Tensor", "schema::expected", 10),
        ("f(int x=[1,]) -> Tensor", "schema::expected", 12),
        ("f(int[x] a) -> Tensor", "schema::expected", 7),
        ("f(int[-1] a) -> Tensor", "schema::expected", 7),
        ("f(Tensor() a) -> Tensor", "schema::expected", 10),
        ("f(Tensor(!) a) -> Tensor", "schema::expected", 10),
        ("f(Tensor(a b) a) -> Tensor", "schema::expected", 12),
        ("f(Dict(str) a) -> Tensor", "schema::expected", 7),
        ("f(Dict(str, int, int) a) -> Tensor", "schema::expected", 7),
        ("f(Future a) -> Tensor", "schema::expected", 10),
        ("f(__torch__ a) -> Tensor", "schema::expected", 13),
        ("f(__torch__. a!) -> Tensor", "schema::expected", 16),
        ("f.(Tensor a) -> Tensor", "schema::expected", 3),
        ("::f(Tensor a) -> Tensor", "schema::expected", 1),
        ("a::b::f(Tensor a) -> Tensor", "schema::nested_namespace", 5),
        ("f.default(Tensor a) -> Tensor", "schema::reserved_overload", 3),
        ("f.__x(Tensor a) -> Tensor", "schema::reserved_overload", 3),
        ("f(const Tensor a) -> Tensor", "schema::unknown_type", 3),
        ("f(Tensr a) -> Tensor", "schema::unknown_type", 3),
        ("f(double a) -> Tensor", "schema::unknown_type", 3),
        ("f(int64_t a) -> Tensor", "schema::unknown_type", 3),
        ("f(long a) -> Tensor", "schema::unknown_type", 3),
        ("f(at::Tensor a) -> Tensor", "schema::unknown_type", 3),
        ("f(Optional[int] a) -> Tensor", "schema::unknown_type", 3),
        ("f(Tensor& a) -> Tensor", "schema::unexpected_character", 9),
        ("f(Tensor é) -> Tensor", "schema::unexpected_character", 10),
        ("f(str é='a', Tensor& b) -> Tensor", "schema::unexpected_character", 7),
        ("f(str a='é', Tensor& b) -> Tensor", "schema::unexpected_character", 20),
        ("f(str a='x) -> Tensor", "schema::unterminated_string", 9),
        ("f(int a=1x) -> Tensor", "schema::bad_number", 9),
        ("f(float a=1e) -> Tensor", "schema::bad_number", 11),
        ("f(int[4294967296] a) -> Tensor", "schema::bad_list_size", 7),
        ("f(*, int a, *, int b) -> Tensor", "schema::second_star", 13),
        ("f(Tensor a, *) -> Tensor", "schema::star_last", 13),
        ("f(*, ...) -> Tensor", "schema::star_last", 3),
        ("f(..., Tensor a) -> Tensor", "schema::vararg_not_last", 3),
        ("f(Tensor a) -> (..., Tensor)", "schema::vararg_not_last", 17),
        (&deep, "schema::too_deep", 227),
        (&many_lists, "schema::too_deep", 69),
        (&deep_value, "schema::too_deep", 40),
        (&long, "schema::too_long", 1),
    ];
    for (text, code, column) in rows {
        let error = parse(text).expect_err(text);
        let found = (error.code().map(|code| code.to_string()), error.cause.span().column(text));
        assert_eq!(found, (Some(code.to_string()), *column), "{text}: {error}");
        assert!(error.help().is_some(), "{text}: no help");
        assert!(error.source_code().is_some(), "{text}: no text to point into");
    }
}

#[test]
fn just_deep_enough() {
    let deep = format!("f({}int{} x) -> Tensor", "Future(".repeat(31), ")".repeat(31));
    let many_lists = format!("f(int{} x) -> Tensor", "[]".repeat(31));
    let deep_value = format!("f(int x={}1{}) -> Tensor", "[".repeat(31), "]".repeat(31));
    for text in [deep, many_lists, deep_value] {
        assert_eq!(parse(&text).map(|schema| schema.to_string()), Ok(text));
    }
}

#[test]
fn syntax_report() {
    insta::assert_snapshot!(report(&parse("my::scale(Tensor a, double s) -> (Tensor r)").expect_err("C++")));
}

#[test]
fn report_of_a_reference() {
    insta::assert_snapshot!(report(&parse("my::scale(const at::Tensor& a) -> Tensor").expect_err("C++")));
}

#[test]
fn report_of_a_missing_arrow() {
    insta::assert_snapshot!(report(&parse("my::scale(Tensor a) (Tensor r)").expect_err("no arrow")));
}

#[test]
fn refusal_shows_every_reason() {
    insta::assert_snapshot!(report(&refusal(
        "topk.out(Tensor self, SymInt k, int dim=-1, bool largest=True, *, Tensor(a!) values, Tensor? mask=None) -> (Tensor values, Tensor indices)"
    )));
}

#[test]
fn refusal_of_a_misspelled_type() {
    insta::assert_snapshot!(report(&refusal("my::scale(tensor a, str mode='none') -> ()")));
}

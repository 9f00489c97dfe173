//! The behaviour matrix of spec codegen.md §3.3 with our verdict for each row, and every refusal with its code.

use Verdict::*;
use gpsimd_schema::{ArgType, parse, signature};
use miette::Diagnostic;

#[derive(Debug, PartialEq)]
enum Verdict {
    /// The signature, printed.
    Takes(&'static str),
    /// The codes of all reasons, in order.
    Refuses(&'static [&'static str]),
}

fn check(rows: &[(&str, Verdict)]) {
    for (text, want) in rows {
        match (signature(text), want) {
            (Ok(found), Takes(want)) => assert_eq!(found.to_string(), *want, "{text}"),
            (Err(refusal), Refuses(want)) => assert_eq!(codes(&refusal.causes), *want, "{text}"),
            (found, want) => panic!("{text}: wanted {want:?}, found {found:?}"),
        }
    }
}

fn codes(causes: &[impl Diagnostic]) -> Vec<String> {
    causes.iter().map(|cause| cause.code().map_or_else(String::new, |code| code.to_string())).collect()
}

#[test]
fn matrix_of_the_shipped_parser() {
    // One row a row of the matrix, in its order. The shipped parser's own verdict is in the comment.
    check(&[
        // malformed-schema error
        ("f(Tensor a) -> (Tensor r)", Refuses(&["schema::no_namespace"])),
        // accepted, the rest is a discarded name
        ("a::b::f(Tensor a) -> (Tensor r)", Refuses(&["schema::nested_namespace"])),
        // accepted, the overload is discarded
        ("ns::f.overload(Tensor a) -> (Tensor r)", Takes("ns::f.overload(Tensor a) -> (Tensor r)")),
        // parse error, or an unexpected type
        ("ns::f() -> (Tensor r)", Refuses(&["schema::no_arguments"])),
        // errors about token counts, four rows
        ("ns::f(Tensor a,Tensor b) -> (Tensor r)", Takes("ns::f(Tensor a, Tensor b) -> (Tensor r)")),
        ("ns::f(Tensor a,  Tensor b) -> (Tensor r)", Takes("ns::f(Tensor a, Tensor b) -> (Tensor r)")),
        ("ns::f( Tensor a ) -> (Tensor r)", Takes("ns::f(Tensor a) -> (Tensor r)")),
        ("ns::f(Tensor\ta,\nTensor\tb) -> (Tensor r)", Takes("ns::f(Tensor a, Tensor b) -> (Tensor r)")),
        // error; the 64-bit pull cannot be reached
        ("ns::f(long long x) -> (Tensor r)", Takes("ns::f(long long x) -> (Tensor r)")),
        // accepted, the default silently dropped
        ("ns::f(int x=1) -> (Tensor r)", Takes("ns::f(int x=1) -> (Tensor r)")),
        // error
        ("ns::f(int x = 1) -> (Tensor r)", Takes("ns::f(int x=1) -> (Tensor r)")),
        // parse error, or an unexpected type
        ("ns::f(*, int x) -> (Tensor r)", Refuses(&["schema::keyword_only"])),
        // unexpected arg type, five rows
        ("ns::f(Tensor? x) -> (Tensor r)", Refuses(&["schema::optional"])),
        ("ns::f(Tensor[] x) -> (Tensor r)", Refuses(&["schema::list"])),
        ("ns::f(bool x) -> (Tensor r)", Refuses(&["schema::bool"])),
        ("ns::f(str x) -> (Tensor r)", Refuses(&["schema::str"])),
        ("ns::f(int? x) -> (Tensor r)", Refuses(&["schema::optional"])),
        // never usable
        ("ns::f(Tensor(a!) x) -> (Tensor r)", Refuses(&["schema::alias_write"])),
        // missing return paren
        ("ns::f(Tensor a) -> Tensor", Takes("ns::f(Tensor a) -> (Tensor)")),
        // error, or accepted
        ("ns::f(Tensor a) -> (Tensor)", Takes("ns::f(Tensor a) -> (Tensor)")),
        // accepted
        ("ns::f(Tensor a) -> (Tensor r)", Takes("ns::f(Tensor a) -> (Tensor r)")),
        // only a single return value
        ("ns::f(Tensor a) -> (Tensor a, Tensor b)", Refuses(&["schema::many_results"])),
        // parse error, or an unexpected type
        ("ns::f(Tensor a) -> ()", Refuses(&["schema::no_result"])),
        // accepted, the tail ignored
        ("ns::f(Tensor a) -> (Tensor r) junk", Refuses(&["schema::expected"])),
        // accepted
        ("ns::f(Tensor a) (Tensor r)", Refuses(&["schema::expected"])),
    ]);
}

#[test]
fn argument_types() {
    // spec codegen.md §3.4
    let found = signature("ns::f(Tensor a, Scalar b, number c, int d, float e, long long f) -> Tensor r")
        .expect("the device takes all of them");
    let types: Vec<ArgType> = found.params.iter().map(|param| param.ty).collect();
    use ArgType::*;
    assert_eq!(types, [Tensor, Scalar, Scalar, Int, Float, LongLong]);
    assert_eq!(found.result.as_deref(), Some("r"));
}

#[test]
fn what_the_device_cannot_do() {
    check(&[
        ("ns::f(int[] x) -> Tensor", Refuses(&["schema::list"])),
        ("ns::f(int[2] x=1) -> Tensor", Refuses(&["schema::list"])),
        ("ns::f(Tensor?[] x) -> Tensor", Refuses(&["schema::list"])),
        ("ns::f(Tensor[]? x) -> Tensor", Refuses(&["schema::optional"])),
        ("ns::f(int? x=None) -> Tensor", Refuses(&["schema::optional"])),
        ("ns::f(SymInt x) -> Tensor", Refuses(&["schema::symbolic"])),
        ("ns::f(SymFloat x) -> Tensor", Refuses(&["schema::symbolic"])),
        ("ns::f(SymBool x) -> Tensor", Refuses(&["schema::symbolic"])),
        ("ns::f(complex x) -> Tensor", Refuses(&["schema::complex"])),
        ("ns::f(Device x) -> Tensor", Refuses(&["schema::device"])),
        ("ns::f(DeviceIndex x) -> Tensor", Refuses(&["schema::device"])),
        ("ns::f(ScalarType x) -> Tensor", Refuses(&["schema::dtype"])),
        ("ns::f(Layout x) -> Tensor", Refuses(&["schema::layout"])),
        ("ns::f(MemoryFormat x) -> Tensor", Refuses(&["schema::layout"])),
        ("ns::f(Generator x) -> Tensor", Refuses(&["schema::host_object"])),
        ("ns::f(Any x) -> Tensor", Refuses(&["schema::host_object"])),
        ("ns::f(__torch__.A.B x) -> Tensor", Refuses(&["schema::host_object"])),
        ("ns::f(Future(Tensor) x) -> Tensor", Refuses(&["schema::host_object"])),
        ("ns::f((int, int) x) -> Tensor", Refuses(&["schema::compound"])),
        ("ns::f(Dict(str, int) x) -> Tensor", Refuses(&["schema::compound"])),
        ("ns::f(Union(int, float) x) -> Tensor", Refuses(&["schema::compound"])),
        ("ns::f(tensor x) -> Tensor", Refuses(&["schema::type_variable"])),
        ("ns::f(Tensor(a) x) -> Tensor", Refuses(&["schema::alias"])),
        ("ns::f(Tensor! x) -> Tensor", Refuses(&["schema::alias_write"])),
        ("ns::f(Tensor(a!)[] x) -> Tensor", Refuses(&["schema::alias_write", "schema::list"])),
        ("ns::f(Tensor a, ...) -> Tensor", Refuses(&["schema::vararg"])),
        ("ns::f(...) -> Tensor", Refuses(&["schema::vararg"])),
        ("ns::f(Tensor a, int a) -> Tensor", Refuses(&["schema::duplicate_argument"])),
        ("ns::f(int k=1, Tensor a) -> Tensor", Refuses(&["schema::default_order"])),
        ("ns::f(Tensor a) -> ...", Refuses(&["schema::vararg_result"])),
        ("ns::f(Tensor a) -> None", Refuses(&["schema::no_result"])),
        ("ns::f(Tensor a) -> int", Refuses(&["schema::result_type"])),
        ("ns::f(Tensor a) -> Tensor?", Refuses(&["schema::result_type"])),
        ("ns::f(Tensor a) -> Tensor[]", Refuses(&["schema::result_type"])),
        ("ns::f(Tensor a) -> Tensor(a)", Refuses(&["schema::result_type"])),
    ]);
}

#[test]
fn a_call_carries_ten_records() {
    let schema = |count: usize| {
        let params: Vec<String> = (0..count).map(|i| format!("Tensor t{i}")).collect();
        format!("ns::f({}) -> Tensor", params.join(", "))
    };
    assert_eq!(signature(&schema(9)).map(|found| found.records()), Ok(10));
    let refusal = signature(&schema(10)).expect_err("11 records");
    assert_eq!(codes(&refusal.causes), ["schema::too_many_arguments"]);
    assert_eq!(
        refusal.causes[0].to_string(),
        "`f` takes 10 arguments; with its result that is 11 records, and a call carries 10"
    );
}

#[test]
fn defaults_fit_their_type() {
    check(&[
        ("ns::f(Scalar x=1) -> Tensor", Takes("ns::f(Scalar x=1) -> (Tensor)")),
        ("ns::f(number x=-0.5) -> Tensor", Takes("ns::f(Scalar x=-0.5) -> (Tensor)")),
        ("ns::f(float x=1) -> Tensor", Takes("ns::f(float x=1) -> (Tensor)")),
        ("ns::f(int x=-2147483648) -> Tensor", Takes("ns::f(int x=-2147483648) -> (Tensor)")),
        ("ns::f(int x=2147483648) -> Tensor", Refuses(&["schema::default_value"])),
        ("ns::f(long long x=2147483648) -> Tensor", Takes("ns::f(long long x=2147483648) -> (Tensor)")),
        ("ns::f(long long x=9223372036854775808) -> Tensor", Refuses(&["schema::default_value"])),
        ("ns::f(int x=1.5) -> Tensor", Refuses(&["schema::default_value"])),
        ("ns::f(int x=Mean) -> Tensor", Refuses(&["schema::default_value"])),
        ("ns::f(float x=True) -> Tensor", Refuses(&["schema::default_value"])),
        ("ns::f(Scalar x=None) -> Tensor", Refuses(&["schema::default_value"])),
        ("ns::f(Tensor x=None) -> Tensor", Refuses(&["schema::default_value"])),
    ]);
}

#[test]
fn accepted_defaults_are_pointed_out() {
    let schema = parse("ns::f(Tensor a, int k=3) -> Tensor").expect("a schema");
    let notes = gpsimd_schema::notes(&schema);
    assert_eq!(codes(&notes), ["schema::default_kept"]);
    assert_eq!(notes[0].severity(), Some(miette::Severity::Advice));
}

#[test]
fn python_sees_names_and_defaults() {
    let found = signature("my_ops::relu.fast(Tensor t_in, int k=3) -> Tensor").expect("a signature");
    assert_eq!(found.python_call(), "torch.ops.my_ops.relu.fast(Tensor t_in, int k=3) -> Tensor");
}

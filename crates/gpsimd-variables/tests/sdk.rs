//! Types of the SDK and of the C++ library: one row a printer.

mod common;

use common::{Machine, image, program};

const SOURCE: &str = include_str!("kernels/sdk.cpp");

#[test]
fn types_are_shown_as_people_think_of_them() {
    let [sdk, here] = common::includes();
    let image = image("sdk.cpp", SOURCE, &["-O0", "-std=c++17", &sdk, &here]);
    let (program, machine) = (program(&image), Machine::new(&image));
    let floats = [0.0_f32, 1.5, 2.0, 3.0, 4.0, 5.0];
    let mut device: Vec<u8> = floats.iter().flat_map(|value| value.to_le_bytes()).collect();
    device.resize(0x100, 0);
    // 1.5, -2 and 65504 as halves; the first two as bfloat16 and bytes are what these bits make
    device.extend([0x00, 0x3e, 0x00, 0xc0, 0xff, 0x7b]);
    *machine.device.borrow_mut() = device;
    let pc = machine.go();
    let rows = [
        ("undefined", "undefined"),
        ("row", "Float [5] at 0x1000: {0, 1.5, 2, 3, 4}"),
        ("grid", "Float [2, 3] at 0x1000: {{0, 1.5, 2}, {3, 4, 5}}"),
        ("turned", "Float [3, 2] strides [1, 3] at 0x1000: {{0, 3}, {1.5, 4}, {2, 5}}"),
        ("halves", "Half [3] at 0x1100: {1.5, -2, 65504}"),
        ("brains", "BFloat16 [2] at 0x1100: {0.125, -2}"),
        ("bytes", "Byte [2] at 0x1100: {0, 62}"),
        ("scalar", "Float [] at 0x1008: 2"),
        ("alias", "Float [2, 3] at 0x1000: {{0, 1.5, 2}, {3, 4, 5}}"),
        ("grid[1][2] + row[1]", "6.5"),
        ("turned[2][1]", "5"),
        ("halves[0] * 2", "3"),
        ("access", "float [2, 3]: {{0, 1.5, 2}, {3, 4, 5}}"),
        ("access[1][0]", "3"),
        ("element", "4"),
        ("element > 3.5f", "true"),
        ("copies", "copies to and from device memory at 0x1000"),
        ("half", "1.5"),
        ("brain", "-1"),
        ("half + brain", "0.5"),
        ("(float)half", "1.5"),
        ("number", "7"),
        ("real", "0.25"),
        ("sizes", "{2, 3}"),
        ("sizes[1] == 3", "true"),
        ("null", "nullptr"),
        ("options", "Half"),
        ("dtype", "BFloat16"),
        ("dtype == at::kBFloat16", "true"),
        ("span", "[3, 9)"),
        ("block", "int[3] of TCM at 0x"),
        ("block[2]", "30"),
        ("window", "elements 1 to 5 of 6"),
        ("sink", "1 elements wait to be written from element 2"),
        ("reader", "float stream, 1 of 6 read, 1 in the buffer"),
        ("writer", "float stream, closed, 0 of 6 written"),
        ("owned", "device memory at 0x1000"),
        ("meta", "Float"),
        ("shared->size_bytes_", "64"),
        ("some", "5"),
        ("some + 1", "6"),
        ("nothing", "nullopt"),
        ("text", "\"short\""),
        ("text.size()", "5"),
        ("text[1] == 'h'", "true"),
        ("only[0]", "17"),
        ("*only", "17"),
        ("grid.numel()", "6"),
        ("grid.size(-1) + alias.size(0)", "5"),
        ("turned.stride(1)", "3"),
        ("access.size(1)", "3"),
        ("halves.element_size()", "2"),
        ("many.size() == 3 && !many.empty()", "true"),
        ("span.size() + block.size()", "9"),
        ("grid.fill_(1)", "error: `fill_` of `at::Tensor` is not called: the program stands still"),
        ("grid.size(2)", "error: `size` of `at::Tensor` is not called: the program stands still"),
        ("many", "{1, 2, 3}"),
        ("many[2]", "3"),
        ("empty", "{}"),
        ("three", "{7, 8, 9}"),
        ("three[0]", "7"),
        ("pair", "(4, true)"),
        ("pair.second", "true"),
        ("tuple", "(1, 120 'x', -2)"),
        ("list", "{5, 6}"),
        ("row.impl_->dtype_", "Float"),
        ("grid.impl_->sizes_[1]", "3"),
        ("many[3]", "error: there is no element 3: there are 3"),
        ("row[5]", "error: there is no element 5: there are 5"),
    ];
    let mut wrong = Vec::new();
    for (expression, want) in rows {
        let got = match program.evaluate(expression, pc, &machine) {
            Ok(value) => value.summary,
            Err(error) => format!("error: {error}"),
        };
        if got != want && !(want.ends_with("0x") && got.starts_with(want)) {
            wrong.push(format!("{expression}: {got}, not {want}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));

    let children = |expression: &str| -> Vec<String> {
        let value = program.evaluate(expression, pc, &machine).expect(expression);
        let children = program.children(&value, Some(expression), pc, &machine, 0, 9);
        for (child, path) in children.iter().filter_map(|child| Some((child, child.path.as_deref()?))) {
            let again =
                program.evaluate(path, pc, &machine).unwrap_or_else(|error| panic!("{path}: {error}"));
            assert!(
                child.name.starts_with("[m") || again.summary.ends_with(&child.value.summary),
                "{path}: {}",
                again.summary
            );
        }
        children.into_iter().map(|child| format!("{} = {}", child.name, child.value.summary)).collect()
    };
    let grid = children("grid");
    let shown =
        ["dtype = Float", "sizes = {2, 3}", "strides = {3, 1}", "elements = {{0, 1.5, 2}, {3, 4, 5}}"];
    assert_eq!(grid[..4], shown);
    assert!(grid[4].starts_with("[members] = {"), "{grid:?}");
    assert_eq!(children("grid[1]"), ["[0] = 3", "[1] = 4", "[2] = 5"]);
    assert_eq!(children("many"), ["[0] = 1", "[1] = 2", "[2] = 3"]);
    assert_eq!(children("pair")[..2], ["first = 4", "second = true"]);
    assert_eq!(children("access")[1], "[1] = {3, 4, 5}");
}

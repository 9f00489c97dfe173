//! Variables of plain C++, as the real compiler describes them, at breakpoints of a program that runs.

mod common;

use common::{Machine, image, program};
use gpsimd_variables::{At, EvaluateError, Inspect, Program};

const SOURCE: &str = include_str!("kernels/plain.cpp");

/// What an expression gives: its line, or its error.
fn said(program: &Program, at: At, frame: &dyn Inspect, expression: &str) -> String {
    match program.evaluate(expression, at, frame) {
        Ok(value) => value.summary,
        Err(error) => format!("error: {error}"),
    }
}

#[test]
fn every_kind_of_variable_and_expression() {
    let image = image("plain.cpp", SOURCE, &["-O0"]);
    let (program, machine) = (program(&image), Machine::new(&image));
    let at = At::from(machine.go());
    let rows = [
        ("n", "6"),
        ("where", "{x = 10, y = 20}"),
        ("wide", "-7"),
        ("yes", "true"),
        ("letter", "97 'a'"),
        ("small", "-5"),
        ("byte", "200"),
        ("half", "-300"),
        ("real", "1.5"),
        ("exact", "-0.1"),
        ("huge", "1099511627776"),
        ("colour", "Green"),
        ("flags", "kSmall | kSoft"),
        ("name", "\"abc\""),
        ("numbers", "{1, 2.5, -3, 4}"),
        ("grid[2][1]", "6"),
        ("point", "{x = 3, y = -4}"),
        ("to->y", "-4"),
        ("(*to).x", "3"),
        ("none", "nullptr"),
        ("named", "{x = 8, y = 9, name = "),
        ("named.x", "8"),
        ("named.isNew", "true"),
        ("named.level", "19"),
        ("named.change", "-3"),
        ("word.bytes[1]", "3"),
        ("word", "{whole = 16909060, bytes = {4, 3, 2, 1}}"),
        ("holder.inner + holder.less", "23"),
        ("holder.corner->x", "3"),
        ("holder.points[1].y", "6"),
        ("alias", "3"),
        ("calls", "5"),
        ("shadowed", "2"),
        ("deeper", "22"),
        ("counter", "3"),
        ("shop::counter * 2 + 1", "7"),
        ("table[1][1]", "4"),
        ("kLimit", "42"),
        ("Point::made", "7"),
        ("Colour::Blue", "Blue"),
        ("colour == Colour::Green", "true"),
        ("kRound", "kRound"),
        ("&point == to && any == to", "true"),
        ("*(numbers + 1)", "2.5"),
        ("numbers[1] * 2", "5"),
        ("(int)real", "1"),
        ("static_cast<float>(n) / 4", "1.5"),
        ("float(n) / 4", "1.5"),
        ("(uint8_t)(n * 50)", "44"),
        ("*(int*)any", "3"),
        ("*reinterpret_cast<shop::Point*>(any)", "{x = 3, y = -4}"),
        ("((Point*)any)->y", "-4"),
        ("sizeof(shop::Holder)", "28"),
        ("n > 5 ? real : 0", "1.5"),
        ("!none", "true"),
        ("none && none->x", "false"),
        ("~n & 0xff", "249"),
        ("-wide << 3", "56"),
        ("to - &holder.points[0]", ""),
        ("closure", "{__n = 6, __point = {x = 3, y = -4}}"),
        ("$a1 == $sp", "true"),
        ("nothing", "error: `nothing` is no variable here"),
        ("point.z", "error: `z` is no member of `shop::Point`"),
        ("point + 1", "error: `a number` does not take `shop::Point`"),
        ("none->x", "error: `none->x` cannot be told"),
        ("n / (n - 6)", "error: division by zero"),
        ("numbers[4]", "error: there is no element 4: there are 4"),
        ("n +", "error: a name is missing at column 4 of `n +`"),
        ("doubled(3)", "error: functions are not called here"),
    ];
    let mut wrong = Vec::new();
    for (expression, want) in rows {
        let got = said(&program, at, &machine, expression);
        // texts end in addresses, and unreadable memory in reasons, which this does not want to know
        if got != want
            && (!got.starts_with(want)
                || !(want.starts_with("error") || want.is_empty() || want.ends_with(' ')))
        {
            wrong.push(format!("{expression}: {got}, not {want}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let text = said(&program, at, &machine, "text");
    assert!(text.starts_with("0x") && text.ends_with(" → \"hello\""), "{text}");
    let call = said(&program, at, &machine, "call");
    assert!(call.ends_with(" → shop::doubled"), "{call}");
    let to = said(&program, at, &machine, "to");
    assert!(to.ends_with(" → {x = 3, y = -4}"), "{to}");
}

#[test]
fn scopes_types_and_children() {
    let image = image("plain.cpp", SOURCE, &["-O0"]);
    let (program, machine) = (program(&image), Machine::new(&image));
    let pc = machine.go();
    let scopes = program.scopes(pc, &machine);
    let typed = |variables: &[gpsimd_variables::Variable]| -> Vec<String> {
        variables.iter().map(|v| format!("{} {}", v.value.type_name, v.name)).collect()
    };
    assert_eq!(typed(&scopes.arguments), ["int n", "const shop::Point& where", "int64_t wide"]);
    let locals = typed(&scopes.locals);
    assert_eq!(locals[..2], ["int shadowed", "int deeper"]);
    for want in ["bool yes", "float[4] numbers", "int (*)[2] grid", "shop::Callback call", "shop::Point* to"]
    {
        assert!(locals.iter().any(|local| local == want), "{want} is not among {locals:#?}");
    }
    let globals = typed(&scopes.globals);
    assert!(globals.contains(&"int shop::counter".to_owned()), "{globals:?}");

    let children = |expression: &str, start, count| -> Vec<String> {
        let value = program.evaluate(expression, pc, &machine).expect(expression);
        let children = program.children(&value, Some(expression), pc, &machine, start, count);
        for child in children.iter().filter(|child| !child.name.starts_with("shop::")) {
            let path = child.path.as_deref().expect("a path");
            let again =
                program.evaluate(path, pc, &machine).unwrap_or_else(|error| panic!("{path}: {error}"));
            assert_eq!(again.summary, child.value.summary, "{path}");
        }
        children.into_iter().map(|child| format!("{} = {}", child.name, child.value.summary)).collect()
    };
    assert_eq!(children("numbers", 1, 2), ["[1] = 2.5", "[2] = -3"]);
    assert_eq!(children("numbers", 3, 9), ["[3] = 4"]);
    assert_eq!(children("numbers", 4, 9), [""; 0]);
    assert_eq!(children("point", 0, 9), ["x = 3", "y = -4"]);
    assert_eq!(children("to", 0, 9), ["* = {x = 3, y = -4}"]);
    assert_eq!(children("holder", 2, 1).len(), 1);
    assert_eq!(children("named", 0, 1), ["shop::Point = {x = 8, y = 9}"]);
    assert_eq!(children("table", 0, 9), ["[0] = {1, 2}", "[1] = {3, 4}", "[2] = {5, 6}"]);
    let point = program.evaluate("point", pc, &machine).expect("a point");
    assert_eq!((point.size, point.children, point.is_indexed), (Some(8), 2, false));
    let to = program.evaluate("(unsigned)to", pc, &machine).expect("an address").summary;
    assert_eq!(point.address.map(|address| address.to_string()), Some(to));
}

#[test]
fn closures_members_and_inlined_functions_have_frames() {
    let image = image("plain.cpp", SOURCE, &["-O0"]);
    let (program, machine) = (program(&image), Machine::new(&image));
    machine.go();
    let pc = machine.go();
    let at = At::from(pc);
    for (expression, want) in [("sum", "13"), ("more", "4"), ("n", "6"), ("point.x", "3")] {
        assert_eq!(said(&program, at, &machine, expression), want, "{expression}");
    }
    let at = At::from(machine.go());
    for (expression, want) in [("more", "42"), ("held", "21"), ("this->held", "21"), ("*this", "{held = 21}")]
    {
        assert_eq!(said(&program, at, &machine, expression), want, "{expression}");
    }
    let pc = machine.go();
    let functions = program.inlined_at(pc);
    let names: Vec<_> = functions.iter().map(|f| (f.function.as_str(), f.is_inlined)).collect();
    assert_eq!(names, [("squared", true), ("inlined", false)]);
    assert!(functions[0].call_file.ends_with("plain.cpp"), "{functions:?}");
    let line = SOURCE.lines().position(|line| line.contains("area = squared")).expect("the call") as u32 + 1;
    assert_eq!(functions[0].call_line, line);
    let rows = [("result", 0, "25"), ("base", 0, "5"), ("local", 1, "5"), ("start", 1, "4")];
    for (expression, level, want) in rows {
        assert_eq!(said(&program, At::from((pc, level)), &machine, expression), want, "{expression}");
    }
    let hidden = program.evaluate("local", pc, &machine);
    assert!(matches!(hidden, Err(EvaluateError::Unknown { .. })), "{hidden:?}");
}

#[test]
fn optimised_code_shows_what_is_there_and_says_what_is_not() {
    let image = image("plain.cpp", SOURCE, &["-Os"]);
    let (program, machine) = (program(&image), Machine::new(&image));
    let mut pc = machine.go();
    while program.inlined_at(pc).last().is_none_or(|function| function.function != "optimised") {
        pc = machine.go();
    }
    let truth = [("kept", "30"), ("dropped", "31"), ("split.x", "31"), ("split.y", "32"), ("constant", "77")];
    let mut shown = 0;
    for stop in 0..2 {
        for (expression, want) in truth {
            match program.evaluate(expression, pc, &machine) {
                Ok(value) => {
                    assert_eq!(value.summary, want, "{expression} at stop {stop}");
                    shown += 1;
                }
                Err(EvaluateError::Absent { .. }) => {}
                Err(error) => panic!("{expression}: {error}"),
            }
        }
        if stop == 0 {
            pc = machine.go();
        }
    }
    assert!(shown >= 4, "{shown} of 10 are there");
}

#[test]
fn assignments_are_read_back() {
    let image = image("plain.cpp", SOURCE, &["-O0"]);
    let (program, mut machine) = (program(&image), Machine::new(&image));
    let pc = machine.go();
    let rows = [
        ("n", "n + 1", "7"),
        ("wide", "-9", "-9"),
        ("real", "n / 2", "3"),
        ("numbers[2]", "1.25", "1.25"),
        ("named.level", "3", "3"),
        ("named.change", "-8", "-8"),
        ("named.isNew", "false", "false"),
        ("colour", "Colour::Blue", "Blue"),
        ("to->x", "99", "99"),
        ("alias", "98", "98"),
        ("none", "to", ""),
        ("holder.points[0].y", "5", "5"),
        ("$a15", "1", "error: `$a15` cannot be changed"),
        ("point", "1", "error: `point` cannot be changed"),
        ("3", "4", "error: `the expression` cannot be changed"),
    ];
    for (place, value, want) in rows {
        let got = match program.set(place, value, pc, &mut machine) {
            Ok(value) => value.summary,
            Err(error) => format!("error: {error}"),
        };
        assert!(
            got == want || (got.starts_with(want) && (want.is_empty() || want.starts_with("error"))),
            "{place} = {value}: {got}"
        );
    }
    assert_eq!(said(&program, pc.into(), &machine, "named"), said(&program, pc.into(), &machine, "*&named"));
}

/// At every instruction of the program, what is said of an argument is what it is, or nothing.
#[test]
fn arguments_are_never_wrong_from_the_first_instruction_on() {
    for level in ["-O0", "-Os", "-O2"] {
        let image = image("plain.cpp", SOURCE, &[level]);
        let (program, machine) = (program(&image), Machine::new(&image));
        let truth = [
            ("plain", "n", "6"),
            ("plain", "wide", "-7"),
            ("inlined", "start", "4"),
            ("optimised", "kept", "30"),
            ("optimised", "dropped", "31"),
        ];
        let mut shown = 0;
        while machine.step() {
            let pc = machine.pc();
            for (level, function) in program.inlined_at(pc).iter().enumerate() {
                for (_, name, want) in truth.iter().filter(|(of, ..)| *of == function.function) {
                    if let Ok(value) = program.evaluate(name, (pc, level), &machine) {
                        assert_eq!(value.summary, *want, "{name} at {pc:#x}");
                        shown += 1;
                    }
                }
            }
        }
        assert!(shown > 40, "{shown} times at {level}");
    }
}

#[test]
fn moved_images_are_read_where_they_lie() {
    let image = image("plain.cpp", SOURCE, &["-O0"]);
    let (here, machine) = (program(&image), Machine::new(&image));
    let pc = machine.go();
    let there = program(&image).moved_by(0x20_0000);
    assert_eq!(there.inlined_at(pc + 0x20_0000), here.inlined_at(pc));
    let (a, b) =
        (here.evaluate("&counter", pc, &machine), there.evaluate("&counter", pc + 0x20_0000, &machine));
    let address = |value: Result<gpsimd_variables::Value, _>| {
        u32::from_str_radix(&value.expect("a global").summary[2..10], 16).expect("an address")
    };
    assert_eq!(address(b), address(a) + 0x20_0000);
}

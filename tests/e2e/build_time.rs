//! What a build finds, or handles, before anyone runs its images.

use crate::bench::{Bench, bad, good, repository};

/// The text of a conformance or test kernel, written into the bench.
fn kernel(bench: &Bench, name: &str, text: &str) {
    bench.write(name, &format!("#include <torch/torch.h>\n{text}"));
}

/// Constructors with a priority run first and in order, on both ways to the device.
#[test]
fn constructors_run_in_the_order_of_their_priorities() {
    let bench = Bench::new();
    kernel(
        &bench,
        "order.cpp",
        "static int order[4], count;
struct Note { explicit Note(int what) { order[count++] = what; } };
static Note plain(4);
__attribute__((init_priority(300))) Note third(3);
__attribute__((constructor(150))) static void first() { order[count++] = 1; }
__attribute__((init_priority(200))) Note second(2);
torch::Tensor order_of(const torch::Tensor& t) {
    torch::Tensor out = torch::empty(t.sizes(), torch::kFloat);
    auto to = out.accessor<float, 1>();
    for (int i = 0; i < 4; i++) to[i] = order[i];
    return out;
}
",
    );
    good(bench.tool().args(["compile", "order.cpp", "--image", "both"]));
    for lane in ["fixed", "ucpl"] {
        let line = ["run", "build/order", "arange:4", "--like", "0", "--lane", lane];
        let said = good(bench.tool().args(line));
        assert!(said.contains("= [1, 2, 3, 4]"), "{lane}:\n{said}");
    }
}

/// An L32R reaches 256 KiB; a function may be longer.
#[test]
fn literals_are_within_reach_of_a_very_long_function() {
    let bench = Bench::new();
    kernel(
        &bench,
        "far.cpp",
        "torch::Tensor far_away(const torch::Tensor& t) {
    torch::Tensor out = torch::empty(t.sizes(), torch::kInt);
    auto from = t.accessor<int, 1>();
    auto to = out.accessor<int, 1>();
    for (int i = 0; i < t.size(0); ++i) {
        to[i] = from[i] ^ 0x12345678;
        if (from[i] < 0) asm volatile(\".rept 300000\\n nop.n\\n .endr\");
        to[i] = to[i] ^ 0x12345679;
    }
    return out;
}
",
    );
    good(bench.tool().args(["compile", "far.cpp"]));
    let line = ["run", "build/far", "arange:4:int32", "--like", "0", "-o", "out.npy"];
    good(bench.tool().args(line));
    let out = std::fs::read(bench.path("out.npy")).expect("written");
    assert!(out.ends_with(&[1, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0]), "{out:?}");
}

#[test]
fn a_section_that_images_do_not_have_is_traced_back_to_its_attribute() {
    let rows = [
        ("tcm", "tcm_malloc", "__attribute__((section(\".tcm\"))) int table[4] = {1, 2, 3, 4};"),
        ("noinit", "from call to call", "__attribute__((section(\".noinit\"))) int table[4];"),
        ("init_array", ".ctors", "__attribute__((section(\".init_array\"))) void (*table)() = nullptr;"),
    ];
    for (section, remedy, declaration) in rows {
        let bench = Bench::new();
        let body = "torch::Tensor k(const torch::Tensor& t) { return table ? t : torch::zeros(t.sizes(), torch::kInt); }";
        kernel(&bench, "k.cpp", &format!("{declaration}\n{body}\n"));
        let said = bad(bench.tool().args(["compile", "k.cpp", "--", "-Wno-error"]), 1);
        for want in ["kernel::section", "`table`", &format!("\".{section}\""), remedy, "k.cpp:2"] {
            assert!(said.contains(want), "{section}: no {want} in\n{said}");
        }
    }
}

/// The faults of eight cores that show in what a kernel calls; right multicore code is built in silence.
#[test]
fn a_build_for_eight_cores_warns_of_what_only_one_may_do() {
    let bench = Bench::with_vector_add();
    let fresh = "warning[run::fresh_tensor]: vector_add ";
    let element = "warning[run::accessor_on_cores]: vector_add ";
    let said = |arguments: &[&str]| {
        let output = bench.tool().arg("compile").args(arguments).output().expect("the tool starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let single = said(&["vector_add.cpp"]);
    assert!(!single.contains("warning"), "{single}");
    let first = said(&["vector_add.cpp", "--multicore"]);
    assert!(first.contains(fresh) && first.contains(element), "{first}");
    let again = said(&["vector_add.cpp", "--multicore"]);
    assert!(again.contains(fresh), "a build where nothing changed says so again\n{again}");
    let right = repository().join("examples/relu_multicore.cpp");
    let right = said(&[right.to_str().expect("a plain path"), "--multicore"]);
    assert!(!right.contains("warning"), "{right}");
}

/// A checked library lies beside the plain one, runs, finds what the plain one cannot, and is refused as a deliverable.
#[test]
fn a_checked_build_has_a_name_of_its_own_and_does_not_ship() {
    let bench = Bench::new();
    kernel(
        &bench,
        "past.cpp",
        "torch::Tensor past(const torch::Tensor& t) {
    torch::Tensor out = torch::zeros(t.sizes(), torch::kFloat);
    float kept[4] = {1, 2, 3, 4};
    float* from = kept;
    asm(\"\" : \"+r\"(from) : : \"memory\");
    auto to = out.accessor<float, 1>();
    for (int i = 0; i < t.size(0); ++i) to[i] = from[i];
    return out;
}
",
    );
    good(bench.tool().args(["compile", "past.cpp"]));
    let plain: Vec<String> = bench.outputs().into_keys().collect();
    good(bench.tool().args(["compile", "past.cpp", "--sanitize", "address,undefined"]));
    let mut both = plain.clone();
    both.extend(["past.checked.manifest.json", "past.checked.so"].map(str::to_owned));
    both.sort();
    assert_eq!(bench.outputs().into_keys().collect::<Vec<_>>(), both);
    let line = |library: &str, count: &str| -> Vec<String> {
        ["run", library, count, "--like", "0"].map(str::to_owned).to_vec()
    };
    good(bench.tool().args(line("build/past.checked", "arange:4")));
    let said = bad(bench.tool().args(line("build/past.checked", "arange:5")), 1);
    for want in ["run::stack_overrun", "`kept` of 16 bytes, declared in line 4", "past.cpp:8"] {
        assert!(said.contains(want), "no {want} in\n{said}");
    }
    let said = bad(bench.tool().args(["verify", "build/past.checked.so"]), 1);
    assert!(said.contains("image::checked_image"), "{said}");
    let said = bad(bench.tool().args(["compile", "past.cpp", "--sanitize", "address", "--image", "both"]), 1);
    assert!(said.contains("engine::sanitize_split"), "{said}");
}

/// A pointer to another type, given to a function: the compiler may move its accesses about, which no check at run time sees.
#[test]
fn a_checked_build_warns_of_type_puns() {
    let bench = Bench::new();
    kernel(
        &bench,
        "pun.cpp",
        "static float table[4];
__attribute__((noinline)) static int bits(int* i, float* f) { *i = 1; *f = 2.0f; return *i; }
torch::Tensor pun(const torch::Tensor& t) {
    table[1] = bits(reinterpret_cast<int*>(&table[2]), &table[2]);
    return torch::empty(t.sizes(), torch::kFloat).fill_(table[1]);
}
",
    );
    let output = bench
        .tool()
        .args(["compile", "pun.cpp", "--sanitize", "address,undefined"])
        .output()
        .expect("starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && said.contains("pun.cpp:5:") && said.contains("strict-aliasing"),
        "{said}"
    );
}

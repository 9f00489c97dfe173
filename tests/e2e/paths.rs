//! Awkward names: no shell is involved anywhere, so every legal path works.

use crate::bench::{Bench, VECTOR_ADD, good, library_files, outputs};

#[test]
fn any_path_builds() {
    let names = [
        "with space",
        "it's",
        "semi;colon",
        "two\nlines",
        "$HOME",
        "grün-日本",
        "#hash",
        "a\"b",
        "back\\slash",
        "50%",
        "a:b",
    ];
    for name in names {
        let bench = Bench::with_vector_add();
        let folder = bench.path(name);
        std::fs::create_dir(&folder).expect("a directory");
        let source = folder.join(format!("{name}.cpp"));
        std::fs::rename(bench.path("vector_add.cpp"), &source).expect("moved");
        let out = folder.join("out put");
        good(
            bench
                .tool()
                .args(["compile", "--name", "library", "--schema", VECTOR_ADD, "--out-dir"])
                .arg(&out)
                .arg(&source)
                .arg("-I")
                .arg(&folder),
        );
        let found: Vec<String> = outputs(&out).into_keys().collect();
        assert_eq!(found, library_files("library", false), "{name:?}");
    }
}

#[test]
fn the_place_of_a_build_does_not_show_in_its_outputs() {
    let [here, there] = [Bench::with_vector_add(), Bench::with_vector_add()];
    for bench in [&here, &there] {
        bench.build_vector_add();
    }
    assert_eq!(here.outputs(), there.outputs());
}

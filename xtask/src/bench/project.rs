//! Projects to build: sources and arguments in a scratch directory.
//!
//! Unaware of what is measured.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

/// A directory that goes when the benchmark ends.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new() -> Result<Scratch> {
        let path = std::env::temp_dir().join(format!("gpsimd-bench-{}", std::process::id()));
        std::fs::create_dir_all(&path)?;
        Ok(Scratch(path.canonicalize()?))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A project on disk and the arguments that build it.
pub struct Project {
    pub directory: PathBuf,
    arguments: Vec<String>,
    sources: Vec<String>,
}

impl Project {
    pub fn command(&self, tool: &Path, verb: &[&str], more: &[&str]) -> Command {
        let mut command = Command::new(tool);
        command.args(verb).args(&self.sources).args(&self.arguments).arg("--multicore").args(more);
        command.current_dir(&self.directory).stdout(Stdio::null()).stderr(Stdio::piped());
        command
    }

    pub fn forget(&self, directory: &str) {
        let _ = std::fs::remove_dir_all(self.directory.join(directory));
    }
}

pub fn kernel(name: &str, body: &str) -> String {
    format!(
        "torch::Tensor {name}(const torch::Tensor& t) {{\n    torch::Tensor out = torch::empty(t.sizes(), torch::kFloat);\n    \
         auto in = t.read_stream_accessor<float>();\n    auto to = out.write_stream_accessor<float>();\n    \
         for (int64_t i = 0; i < t.numel(); ++i) {{ float x = in.read(); {body} to.write(x); }}\n    return out;\n}}\n"
    )
}

impl Scratch {
    /// A project of these files.
    pub fn project(&self, name: &str, files: &[(String, String)], ops: usize) -> Result<Project> {
        let directory = self.0.join(name);
        std::fs::create_dir_all(&directory)?;
        for (file, text) in files {
            std::fs::write(directory.join(file), text)?;
        }
        let sources =
            files.iter().map(|(file, _)| file.clone()).filter(|file| file.ends_with(".cpp")).collect();
        let mut arguments = vec!["--name".to_owned(), "lib".to_owned()];
        for op in 0..ops {
            arguments.extend(["--op".to_owned(), format!("k{op}=my::k{op}(Tensor t) -> Tensor")]);
        }
        Ok(Project { directory, arguments, sources })
    }

    /// One op.
    pub fn vector_add(&self) -> Result<Project> {
        let text =
            std::fs::read_to_string("tests/kernels/vector_add.cpp").context("run it in the repository")?;
        let mut project = self.project("vector_add", &[("vector_add.cpp".to_owned(), text)], 0)?;
        let schema = "my::vector_add(Tensor a, Tensor b) -> (Tensor out)";
        project.arguments.extend(["--schema".to_owned(), schema.to_owned()]);
        Ok(project)
    }

    /// Ops in one file.
    pub fn ops(&self, count: usize) -> Result<Project> {
        let kernels: String =
            (0..count).map(|op| kernel(&format!("k{op}"), &format!("x = x * {op} + 1;"))).collect();
        let text = format!("#include <torch/torch.h>\n{kernels}");
        self.project(&format!("ops{count}"), &[("k.cpp".to_owned(), text)], count)
    }

    /// One op, and helpers in files of their own, each with a header of its own.
    pub fn files(&self, count: usize) -> Result<Project> {
        let calls: String = (1..count).map(|file| format!("x += helper{file}(x); ")).collect();
        let declarations: String = (1..count).map(|file| format!("float helper{file}(float);\n")).collect();
        let text = format!("#include <torch/torch.h>\n{declarations}{}", kernel("k0", &calls));
        let mut files = vec![("k.cpp".to_owned(), text)];
        for file in 1..count {
            files.push((format!("h{file}.h"), format!("#define H {file}\n")));
            files.push((
                format!("h{file}.cpp"),
                format!("#include <torch/torch.h>\n#include \"h{file}.h\"\nfloat helper{file}(float x) {{ return x * H; }}\n"),
            ));
        }
        self.project(&format!("files{count}"), &files, 1)
    }
}

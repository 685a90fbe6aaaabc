//! The files that a problem names: the kernel, what it includes, and the reference.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tickbound_device::{DeviceChoice, Interface};
use tickbound_model::source::Standard;
use tickbound_model::{KernelSource, Problem};
use tickbound_opencl::cuda;

use super::error::MeasureError;

/// A kernel's source file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Code {
    /// The file as messages call it.
    pub path: String,
    /// Its text; in CUDA the part of the device.
    pub text: String,
    /// The kernel function.
    pub entry: String,
    /// Options of the compiler; in CUDA one in each line.
    pub options: String,
    /// It is in CUDA.
    #[serde(default)]
    pub cuda: bool,
}

impl Code {
    /// Whether devices of this choice run it.
    ///
    /// # Errors
    /// They run kernels in the other language.
    pub fn check_device(&self, choice: DeviceChoice) -> Result<(), MeasureError> {
        match (self.cuda, choice.interface()) {
            (true, Interface::Cuda) | (false, Interface::OpenCl) => Ok(()),
            (true, _) => Err(MeasureError::Device(choice, "CUDA", DeviceChoice::Cuda(0))),
            (false, _) => Err(MeasureError::Device(choice, "OpenCL C", DeviceChoice::OpenCl)),
        }
    }
}

/// The device that runs a problem's kernel where none is chosen.
pub fn usual_device(problem: &Problem) -> DeviceChoice {
    let standard = problem.source.as_ref().map(|source| source.standard);
    if standard.is_some_and(Standard::is_cuda) {
        DeviceChoice::Cuda(0)
    } else {
        DeviceChoice::OpenCl
    }
}

/// The files that a problem names, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFiles {
    /// The folder that the problem's paths count from.
    pub folder: PathBuf,
    /// The kernel.
    pub code: Code,
    /// The host reference: its path, and its text.
    pub reference: Option<(PathBuf, String)>,
    /// Texts of the files that the source includes, by quoted name, as part of it.
    pub included: Vec<(String, String)>,
    /// All files that were read.
    pub paths: Vec<PathBuf>,
}

impl SourceFiles {
    /// Reads the files of a problem in `folder`.
    ///
    /// # Errors
    /// The problem names no source, or a file cannot be read.
    pub fn read(problem: &Problem, folder: &Path) -> Result<SourceFiles, MeasureError> {
        let source = source_of(problem)?;
        let cuda = source.standard == Standard::Cuda;
        if source.standard == Standard::Hip {
            return Err(MeasureError::Unmeasured("HIP"));
        }
        if cuda && source.arguments.iter().any(|argument| !argument.image.is_empty()) {
            return Err(MeasureError::Unmeasured("CUDA with texture objects"));
        }
        let mut paths = Vec::new();
        let mut read = |path: &Path| {
            paths.push(path.to_owned());
            tickbound_input::source(path)
                .map_err(|error| MeasureError::Read(path.to_owned(), error))
        };
        let path = folder.join(&source.path);
        let mut text = read(&path)?;
        // As the front end reads them: as if all were one file.
        for name in &source.more {
            let more = read(&folder.join(name))?;
            text += &format!("\n#line 1 \"{}\"\n{more}", name.replace(['"', '\\'], "_"));
        }
        let reference = source.reference.as_ref().map(|reference| {
            let path = folder.join(reference);
            read(&path).map(|text| (path, text))
        });
        let reference = reference.transpose()?;
        let beside = path.parent().map(Path::to_owned).unwrap_or_default();
        let mut included = Vec::new();
        let mut options = format!("-cl-std={} -I .", source.standard.name());
        let mut folders = vec![beside.clone()];
        for name in &source.include {
            let path = std::path::absolute(folder.join(name)).unwrap_or_else(|_| folder.join(name));
            options += &format!(" -I {}", path.display());
            folders.push(path);
        }
        include(&text, &folders, &mut included, &mut paths);
        let entry = source.entry.clone();
        let path = path.display().to_string();
        if cuda {
            let toolkit = tickbound_device::cuda_headers();
            text = cuda::device_part(&path, &text, &folders, &toolkit);
            let include = toolkit.iter().map(|f| format!("\n--include-path={}", f.display()));
            options = "--std=c++17\n--device-as-default-execution-space".to_owned();
            options.extend(include);
        }
        let code = Code { path, text, entry, options, cuda };
        Ok(SourceFiles { folder: beside, code, reference, included, paths })
    }
}

/// Adds what a text includes, and what that includes.
fn include(
    text: &str,
    folders: &[PathBuf],
    included: &mut Vec<(String, String)>,
    paths: &mut Vec<PathBuf>,
) {
    let names = text.lines().filter_map(|line| {
        let line = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?;
        line.trim_start().strip_prefix('"')?.split_once('"').map(|(name, _)| name.to_owned())
    });
    for name in names {
        if included.iter().any(|(known, _)| *known == name) {
            continue;
        }
        let read = |folder: &PathBuf| {
            let path = folder.join(&name);
            tickbound_input::source(&path).ok().map(|text| (path, text))
        };
        if let Some((path, text)) = folders.iter().find_map(read) {
            included.push((name, text.clone()));
            paths.push(path);
            include(&text, folders, included, paths);
        }
    }
}

/// The source of a problem.
///
/// # Errors
/// It names none.
pub fn source_of(problem: &Problem) -> Result<&KernelSource, MeasureError> {
    problem.source.as_ref().ok_or(MeasureError::NoSource)
}

#[cfg(test)]
mod tests {
    use indexmap::IndexMap;
    use serde_json::json;

    use super::*;

    /// What the device compiles is what the front end reads.
    #[test]
    fn several_files_are_one() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("lib/a.cl", "#include \"a.h\"\n"),
            ("lib/a.h", "#include \"b.h\"\n"),
            ("inc/b.h", "int b;\n"),
            ("b.cl", "kernel void k(global int *x) {}"),
        ] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let value = json!({
            "platform": { "units_per_device": 1, "elements_per_unit": 1, "global_access": 1 },
            "launch": { "global_size": 1, "local_size": 1 },
            "kernel": { "opencl": ["lib/a.cl", "b.cl"], "include": ["inc"], "entry": "k" }
        });
        let none = |_: &str| unreachable!("the platform is in the file");
        let problem = Problem::from_value(&value, &IndexMap::new(), &none).unwrap();
        let files = SourceFiles::read(&problem, folder.path()).unwrap();
        let text = "#include \"a.h\"\n\n#line 1 \"b.cl\"\nkernel void k(global int *x) {}";
        assert_eq!(files.code.text, text);
        assert_eq!(files.folder, folder.path().join("lib"));
        let inc = folder.path().join("inc");
        assert_eq!(files.code.options, format!("-cl-std=CL1.2 -I . -I {}", inc.display()));
        let names: Vec<&str> = files.included.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["a.h", "b.h"]);
    }
}

//! Kernels in CUDA measured without a GPU: by a driver over this machine's memory
//! (tests/cuda_stub.c), compiled by the same stub or by the real NVRTC.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command as Process;

use assert_cmd::cargo::cargo_bin;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Host code around a kernel, whose group has 32 items where it does not compile.
const TWICE: &str = "\
#include <cuda_runtime.h>
#include <vector>
#define WG 256
static std::vector<int> host;
#if WG == 32
#define RIGHT nothing
#else
#define RIGHT 2 * x[i] + WG
#endif
__global__ void twice(const int *x, int *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = RIGHT;
}
void run(const int *x, int *y, int n) { twice<<<n / WG, WG>>>(x, y); }
";

const TWICE_REFERENCE: &str = "\
long value(const char *name);
void reference(const int *x, int *y)
{
    for (long i = 0; i < value(\"n\"); i++)
        y[i] = 2 * x[i] + value(\"WG\");
}
";

/// A folder with a driver, and NVRTC or a stub of it.
struct Machine {
    folder: TempDir,
    libraries: String,
}

impl Machine {
    /// `real`: with the NVRTC that `make tools` installs. `None` without it, or without a compiler.
    fn new(real: bool) -> Option<Machine> {
        let folder = TempDir::new().unwrap();
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut compiler = Process::new("cc");
        compiler.args(["-shared", "-fPIC", "-w", "-o"]).arg(folder.path().join("libcuda.so.1"));
        let made = compiler.arg(root.join("tests/cuda_stub.c")).output();
        if !made.is_ok_and(|output| output.status.success()) {
            eprintln!("skipped: cc makes no library");
            return None;
        }
        let mut libraries = folder.path().display().to_string();
        if real {
            libraries += &format!(":{}", nvrtc()?.display());
        } else {
            let library = folder.path().join("libnvrtc.so.13");
            fs::copy(folder.path().join("libcuda.so.1"), library).unwrap();
        }
        if let Ok(others) = std::env::var("LD_LIBRARY_PATH") {
            libraries += &format!(":{others}");
        }
        Some(Machine { folder, libraries })
    }

    /// A command in the folder: what it prints, what it notes, and its status.
    fn say(&self, arguments: &[&str]) -> (String, String, i32) {
        self.say_with(arguments, &[])
    }

    fn say_with(&self, arguments: &[&str], variables: &[(&str, &str)]) -> (String, String, i32) {
        let mut command = Process::new(cargo_bin("tickbound"));
        command.current_dir(self.folder.path()).args(arguments);
        command.env_remove("CUDA_PATH").env_remove("CUDA_HOME");
        command.env("LD_LIBRARY_PATH", &self.libraries).envs(variables.iter().copied());
        let output = command.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let (out, err) = (text(output.stdout), text(output.stderr));
        assert!(!err.contains("panicked"), "{err}");
        (out, err, output.status.code().unwrap_or(-1))
    }

    /// Measures the problem; each result by the size of its group.
    fn measure(&self, problem: &Value, more: &[&str], variables: &[(&str, &str)]) -> Value {
        fs::write(self.folder.path().join("p.json"), problem.to_string()).unwrap();
        let arguments = ["measure", "p.json", "--json", "--unverified", "--compilers", "1"];
        let (out, err, status) = self.say_with(&[&arguments, more].concat(), variables);
        let result = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {err}"));
        // 1: no configuration has a time.
        assert!(status == 0 || status == 1, "{err}");
        result
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(name), text).unwrap();
    }
}

/// The folder of the NVRTC that `make tools` installs.
fn nvrtc() -> Option<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join(".deps/sass/lib");
    let pythons = fs::read_dir(own).into_iter().flatten().flatten();
    let mut folders = pythons.map(|p| p.path().join("site-packages/nvidia/cu13/lib"));
    let found = folders.find(|folder| folder.join("libnvrtc.so.13").is_file());
    if found.is_none() {
        eprintln!("skipped: no .deps/sass; `make tools` installs it");
    }
    found
}

fn problem(groups: &[i64]) -> Value {
    json!({
        "name": "twice",
        "inputs": { "n": 256 },
        "platform": { "units_per_device": 1, "elements_per_unit": 4, "global_access": 4 },
        "parameters": { "WG": groups },
        "launch": { "global_size": "n", "local_size": "WG" },
        "kernel": {
            "opencl": "k.cu", "language": "cuda", "entry": "twice", "reference": "k.ref.c",
            "arguments": [
                { "name": "x", "type": "int", "length": "n", "fill": { "random": [-9, 9] } },
                { "name": "y", "type": "int", "length": "n", "fill": 7, "output": true }
            ]
        }
    })
}

/// What came of the configuration with groups of a size: seconds, or kind and message of a failure.
fn outcome(result: &Value, group: i64) -> Result<f64, (String, String)> {
    let all = result["results"].as_array().expect("results");
    let one = all.iter().find(|r| r["configuration"]["WG"] == group).expect("a result");
    let text = |field: &str| one[field].as_str().unwrap_or_default().to_owned();
    one["time"].as_f64().ok_or_else(|| (text("failure"), text("message")))
}

/// Each outcome of a configuration, with either compiler.
fn each_outcome(machine: &Machine) {
    machine.write("k.cu", TWICE);
    machine.write("k.ref.c", TWICE_REFERENCE);
    let result = machine.measure(&problem(&[2, 4, 8, 16, 32, 64, 128]), &[], &[]);
    assert_eq!(result["device"]["name"], "NVIDIA Stub");
    assert_eq!((&result["asked"], &result["measured"]), (&json!(7), &json!(2)), "{result}");
    assert_eq!(outcome(&result, 64), Ok(0.00025));
    assert_eq!(outcome(&result, 128), Ok(0.0005));
    let failed = |kind: &str, message: &str| Err((kind.to_owned(), message.to_owned()));
    assert_eq!(
        outcome(&result, 32),
        failed("compile", "k.cu:13: identifier \"nothing\" is undefined")
    );
    let past = "writes behind the end of argument `y`: at `y[256]` of 256 elements";
    assert_eq!(outcome(&result, 16), failed("correctness", past));
    let (kind, message) = outcome(&result, 8).unwrap_err();
    assert_eq!(kind, "correctness");
    assert!(message.starts_with("output `y[5]` is "), "{message}");
    let outside = "NVIDIA Stub: cuEventSynchronize failed: an illegal memory access was \
                   encountered (700)";
    assert_eq!(outcome(&result, 4), failed("runtime", outside));
    let (kind, message) = outcome(&result, 2).unwrap_err();
    assert_eq!(kind, "runtime");
    assert!(message.contains("crashed with"), "{message}");
}

#[test]
fn each_outcome_with_a_stub_of_nvrtc() {
    if let Some(machine) = Machine::new(false) {
        each_outcome(&machine);
    }
}

/// Options, host code, values of macros, names and sizes of arguments are those of NVRTC.
#[test]
fn each_outcome_with_nvrtc() {
    if let Some(machine) = Machine::new(true) {
        each_outcome(&machine);
    }
}

const TILE: &str = "\
#include <cuda_fp_stub.h>
namespace a {
constexpr int EXTRA = 1;
template <typename T, bool FLAG, int WG = 8> struct Add { T by; };
template <typename T, bool FLAG, int WG>
__global__ void __launch_bounds__(WG) twice(const T *x, T *y)
{
    extern __shared__ float4 part[];
    static_assert(FLAG && EXTRA == 5 && STUB && sizeof(T) == 4, \"values\");
    y[threadIdx.x] = 2 * x[threadIdx.x] + uint32_t(WG);
}
template <typename T> void run(const T *x, T *y) { twice<T, true, 64><<<1, 64>>>(x, y); }
template void run<int>(const int *, int *);
}
";

/// A template in a namespace: named with its arguments, and found by its lowered name. Our own
/// kernels that empty caches and compare outputs are compiled, too.
#[test]
fn templates_with_nvrtc() {
    let Some(machine) = Machine::new(true) else { return };
    machine.write("k.cu", TILE);
    machine.write("k.ref.c", TWICE_REFERENCE);
    let mut own = problem(&[64]);
    own["kernel"]["defines"] = json!({
        "T": { "text": "int" }, "FLAG": 1, "WG": "WG", "EXTRA": 5
    });
    // Not a parameter of the kernel, but a part of the launch.
    let shared = json!({ "name": "part", "type": "float", "length": "4 * WG", "space": "local" });
    own["kernel"]["arguments"].as_array_mut().unwrap().push(shared);
    // Of headers that device code needs it is stated that the toolkit is missing.
    let result = machine.measure(&own, &[], &[]);
    let (_, message) = outcome(&result, 64).unwrap_err();
    let missing = "k.cu:1: could not open source file \"cuda_fp_stub.h\"";
    assert!(message.starts_with(missing), "{message}");
    fs::create_dir(machine.folder.path().join("include")).unwrap();
    machine.write("include/cuda_fp_stub.h", "#define STUB 1\n");
    let toolkit = machine.folder.path().display().to_string();
    let variables = [("CUDA_PATH", toolkit.as_str())];
    let result = machine.measure(&own, &["--flush-cache"], &variables);
    assert_eq!(outcome(&result, 64), Ok(0.00025), "{result}");
    own["kernel"]["defines"].as_object_mut().unwrap().remove("T");
    let result = machine.measure(&own, &["--cache", "other.json"], &variables);
    let why = "k.cu: `twice` is a template; give its parameter `T` in kernel.defines";
    assert_eq!(outcome(&result, 64), Err(("compile".to_owned(), why.to_owned())));
}

/// What `init` makes of sources with host code is compiled and launched; the stub runs nothing.
#[test]
fn proposals_with_nvrtc() {
    let Some(machine) = Machine::new(true) else { return };
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/opencl/tests/cuda");
    let two = "measured:   2 of 2 configurations have a time";
    let structure = "map` takes 3 arguments, the problem gives 5; structures among its arguments";
    for (source, entry, expected) in [
        ("saxpy.cu", "saxpy", two),
        ("stencil.cu", "rows", two),
        ("stencil.cu", "scale4", "measured:   1 of 1 configurations have a time"),
        ("tile.cu", "product", two),
        ("reduce.cu", "reduce", two),
        ("classes.cu", "map", structure),
    ] {
        fs::copy(from.join(source), machine.folder.path().join(source)).unwrap();
        let init = ["init", source, "--entry", entry, "--platform", "h200", "-o", "p.json"];
        let (_, err, status) = machine.say(&[&init[..], &["--force"]].concat());
        if err.contains("libclang") && std::env::var_os("CI").is_none() {
            eprintln!("skipped: {err}");
            return;
        }
        assert_eq!(status, 0, "{err}");
        let cache = format!("{entry}.cache.json");
        let arguments = ["measure", "p.json", "--sample", "2", "--unverified", "--cache", &cache];
        let (out, err, _) = machine.say(&arguments);
        assert!(out.contains(expected) || err.contains(expected), "{entry}: {out}{err}");
    }
}

/// The stub finds all elements right on the device, so that these wrong ones pass: outputs of all
/// four kinds are compared there.
#[test]
fn large_outputs_are_compared_on_the_device() {
    let Some(machine) = Machine::new(true) else { return };
    let outputs = [("i", "int", 1 << 18), ("f", "float", 1 << 18), ("d", "double", 1 << 17)];
    let outputs = outputs.into_iter().chain([("c", "uchar", (1 << 20) + 1)]);
    let outputs = outputs.map(|(name, kind, length)| {
        json!({ "name": name, "type": kind, "length": length, "fill": 7, "output": true })
    });
    let text = "__global__ void four(int *i, float *f, double *d, unsigned char *c) {}";
    machine.write("k.cu", text);
    machine.write("k.ref.c", "void reference(int *i, float *f, double *d, unsigned char *c) {}");
    let mut own = problem(&[64]);
    own["kernel"]["entry"] = json!("four");
    own["kernel"]["arguments"] = outputs.collect();
    let changed = "void reference(int *i, float *f, double *d, unsigned char *c) { OUT[0] = 1; }";
    for out in ["i", "f", "d", "c"] {
        machine.write("k.ref.c", &changed.replace("OUT", out));
        let cache = format!("{out}.json");
        let result = machine.measure(&own, &["--cache", &cache], &[("STUB_TRUSTS", "1")]);
        assert_eq!(outcome(&result, 64), Ok(0.00025), "{out}: {result}");
        let result = machine.measure(&own, &["--cache", &format!("host-{cache}")], &[]);
        let (kind, message) = outcome(&result, 64).unwrap_err();
        let wrong = format!("output `{out}[0]` is 7, expected 1");
        assert_eq!((kind.as_str(), message), ("correctness", wrong));
    }
}

/// Bytes of shared memory arrive, also more than a launch has without opting in.
#[test]
fn shared_memory_is_part_of_the_launch() {
    let Some(machine) = Machine::new(false) else { return };
    machine.write("k.cu", "__global__ void sums(int *y) { extern __shared__ int part[]; }");
    machine
        .write("k.ref.c", "void reference(int *y) { for (int i = 0; i < 256; i++) y[i] = 60000; }");
    let mut own = problem(&[64]);
    own["kernel"]["entry"] = json!("sums");
    own["kernel"]["arguments"] = json!([
        { "name": "y", "type": "int", "length": "n", "fill": 7, "output": true },
        { "name": "part", "type": "int", "length": 15000, "space": "local" }
    ]);
    assert_eq!(outcome(&machine.measure(&own, &[], &[]), 64), Ok(0.00025));
}

#[test]
fn what_cannot_be_launched_is_refused() {
    let Some(machine) = Machine::new(true) else { return };
    machine.write(
        "k.cu",
        "struct View { const int *x; long n; };\n__global__ void twice(View v, int *y) {}",
    );
    let mut own = problem(&[64]);
    own["kernel"].as_object_mut().unwrap().remove("reference");
    let arguments = own["kernel"]["arguments"].as_array_mut().unwrap();
    arguments.push(json!({ "name": "n", "type": "long", "value": 1 }));
    let result = machine.measure(&own, &[], &[]);
    let why = "k.cu: kernel `twice` takes 2 arguments, the problem gives 3; structures among its \
               arguments are not launched";
    assert_eq!(outcome(&result, 64), Err(("launch".to_owned(), why.to_owned())));
    // As many arguments, but the first is of 16 bytes.
    own["kernel"]["arguments"].as_array_mut().unwrap().pop();
    let result = machine.measure(&own, &["--cache", "other.json"], &[]);
    let why = "k.cu: argument 1 of `twice` is refused: it has 8 bytes or is of another kind";
    assert_eq!(outcome(&result, 64), Err(("launch".to_owned(), why.to_owned())));
    // A group that is too large.
    machine.write("k.cu", TWICE);
    own["parameters"]["WG"] = json!([2048]);
    own["inputs"]["n"] = json!(2048);
    let result = machine.measure(&own, &["--cache", "third.json"], &[]);
    let why = "cannot be launched: NVIDIA Stub: cuLaunchKernel failed: invalid argument (1); \
               groups of 2048 items";
    assert_eq!(outcome(&result, 2048), Err(("launch".to_owned(), why.to_owned())));
    own["kernel"]["language"] = json!("hip");
    machine.write("p.json", &own.to_string());
    let (_, err, status) = machine.say(&["measure", "p.json", "--unverified"]);
    let why = "kernel.language: kernels in HIP are not measured yet";
    assert!(err.contains(why) && status == 2, "{err}");
}

#[test]
fn devices_and_choices() {
    let Some(machine) = Machine::new(false) else { return };
    let (out, err, status) = machine.say(&["devices"]);
    let line = out.lines().find(|line| line.starts_with("cuda:0")).expect("the stub");
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(words, ["cuda:0", "NVIDIA", "Stub", "CUDA", "CUDA", "12.8", "2", "1024"], "{err}");
    assert_eq!(status, 0);
    machine.write("k.cu", TWICE);
    machine.write("k.ref.c", TWICE_REFERENCE);
    let mut own = problem(&[64]);
    machine.write("p.json", &own.to_string());
    let refused = |device: &str, why: &str| {
        let arguments = ["measure", "p.json", "--unverified", "--device", device];
        let (_, err, status) = machine.say(&arguments);
        assert!(err.lines().any(|line| line == format!("tickbound: {why}")), "{err}");
        assert_eq!(status, 2);
    };
    let why = "the kernel is in CUDA, which it does not run; give --device cuda";
    refused("opencl", &format!("--device opencl: {why}"));
    let why = "there is no CUDA device 1; there are 1, numbered from 0 (`tickbound devices` lists \
               them)";
    refused("cuda:1", why);
    own["kernel"].as_object_mut().unwrap().remove("language");
    machine.write("p.json", &own.to_string());
    let why = "the kernel is in OpenCL C, which it does not run; give --device opencl";
    refused("cuda:0", &format!("--device cuda: {why}"));
}

/// Without a driver, without NVRTC, and where the driver fails.
#[test]
fn without_a_device() {
    let Some(machine) = Machine::new(false) else { return };
    if !tickbound_device::list_cuda().devices.is_empty() {
        eprintln!("skipped: this machine has a CUDA device");
        return;
    }
    machine.write("k.cu", TWICE);
    machine.write("k.ref.c", TWICE_REFERENCE);
    machine.write("p.json", &problem(&[64]).to_string());
    let arguments = ["measure", "p.json", "--unverified"];
    let (_, err, status) = machine.say_with(&arguments, &[("STUB_FAILS", "1")]);
    let why = "tickbound: no CUDA device (NVIDIA's driver does not start: error 100 of cuInit)";
    assert!(err.lines().any(|line| line == why) && status == 2, "{err}");
    for (library, why) in [
        (
            "libnvrtc.so.13",
            "libnvrtc is not there; install the CUDA toolkit, or set LD_LIBRARY_PATH \
                            to its folder",
        ),
        ("libcuda.so.1", "libcuda.so.1 is not there; install NVIDIA's driver"),
    ] {
        fs::remove_file(machine.folder.path().join(library)).unwrap();
        let (_, err, status) = machine.say(&arguments);
        let why = format!("tickbound: no CUDA device ({why})");
        assert!(err.lines().any(|line| line == why) && status == 2, "{err}");
    }
}

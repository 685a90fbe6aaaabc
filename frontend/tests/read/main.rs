//! Sources in, steps out.

mod judge;
mod machine;
mod programs;
mod random;
mod support;

use std::path::Path;

use tickbound_encodings::model::Problem;
use tickbound_frontend::steps::print;

#[test]
fn kernels() {
    for name in ["minimum","reduction","transpose","convolution","dedispersion","nbody","coulomb","stencil","gemm"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/kernels");
        let text = std::fs::read_to_string(folder.join(format!("{name}.json"))).unwrap();
        let root = folder.join("../..");
        let platforms = |name: &str| {
            let text = std::fs::read_to_string(root.join(format!("platforms/{name}.json"))).unwrap();
            Ok(serde_json::from_str(&text).unwrap())
        };
        let none = indexmap::IndexMap::new();
        let problem = Problem::from_json(&text, &none, &platforms).unwrap();
        let inputs = problem.sizes["small"].clone();
        let mut problem = Problem::from_json(&text, &inputs, &platforms).unwrap();
        let start = std::time::Instant::now();
        match tickbound_frontend::attach(&mut problem, &folder) {
            Ok(Some(reading)) => {
                println!("==== {name} {:?} {:?}", start.elapsed(), reading.extracted.structural);
                for v in reading.extracted.variants.iter().rev().take(2) {
                    println!("-- {:?}\n{}", v.values, print(&v.steps));
                }
            }
            Ok(None) => println!("==== {name}: none"),
            Err(e) => println!("==== {name}: {e}"),
        }
    }
}

#[test]
fn gemm() {
    let text = std::fs::read_to_string("../examples/kernels/gemm.cl").unwrap().replace("gemm(", "k(");
    let mut c = support::case(&text);
    c.dimensions = 2;
    c.symbols = vec![("MWG",16,128),("NWG",16,128),("KWG",16,32),("MDIMC",8,32),("NDIMC",8,32),("MDIMA",8,32),("NDIMB",8,32),("KWI",2,8),("VWM",2,4),("VWN",2,4),("STRM",0,1),("STRN",0,1),("SA",1,1),("SB",1,1)];
    c.arguments = vec![tickbound_frontend::Passed::Memory;3];
    c.arguments.extend([support::number(128,128);3]);
    println!("{}", c.shown());
}

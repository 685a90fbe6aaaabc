//! Certificates that were changed: each is rejected, for its own reason.

use std::os::unix::fs::symlink;
use std::path::Path;

use crate::check;
use serde_json::{Value, json};
use tickbound_certificate::Certificate;
use tickbound_certificate::folder::{Text, Texts};
use tickbound_certificate::inequalities;
use tickbound_certificate::tools::ToolReport;
use tickbound_model::{Configuration, Problem};
use tickbound_timing::obligation::Obligation;

use crate::{certificate, large, least, never, outside, read};

const CLAIM: &str = "claim.json";
const PROBLEM: &str = "problem.json";
const INEQUALITIES: &str = "inequalities.json";
const BRANCHES: &str = "branches.json";

/// A folder with a certificate.
struct Folder(tempfile::TempDir);

impl Folder {
    fn of(problem: &Value) -> Folder {
        let problem = read(problem);
        let (configuration, time) = least(&problem).expect("a least time");
        let folder = tempfile::tempdir().expect("a folder");
        let written = certificate(&problem, &configuration, time).expect("a certificate");
        written.write(folder.path()).expect("written");
        let again = Certificate::read(folder.path()).expect("read again");
        assert_eq!(again, written);
        check(&again, None, &never).expect("it holds before it is changed");
        Folder(folder)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn text(&self, file: &str) -> String {
        std::fs::read_to_string(self.path().join(file)).expect("a file")
    }

    fn json(&self, file: &str) -> Value {
        serde_json::from_str(&self.text(file)).expect("JSON")
    }

    fn put(&self, file: &str, text: &[u8]) {
        std::fs::write(self.path().join(file), text).expect("written");
    }

    /// Why the certificate is rejected with this file in place of its own.
    fn rejected(&self, file: &str, text: &str) -> String {
        let before = self.text(file);
        self.put(file, text.as_bytes());
        let why = self.why();
        self.put(file, before.as_bytes());
        why
    }

    /// Why it is rejected as it is.
    fn why(&self) -> String {
        let checked = Certificate::read(self.path()).and_then(|c| check(&c, None, &never));
        checked.map_or_else(|e| e.to_string(), |report| panic!("it is not rejected: {report:?}"))
    }

    /// Changes a file's JSON in some ways; each must be rejected with a reason that has these
    /// words.
    fn reject(&self, file: &str, changes: &[(&str, &str, Change)]) -> usize {
        for (what, words, change) in changes {
            let mut value = self.json(file);
            change(&mut value);
            assert_ne!(value, self.json(file), "{what}: nothing is changed");
            let why = self.rejected(file, &value.to_string());
            assert!(why.contains(words), "{what}: {why}");
        }
        changes.len()
    }
}

type Change = fn(&mut Value);

/// Four parameters, each pair of neighbours with a price.
fn chain() -> Value {
    large::chain(4, 5)
}

/// Items that wait for marks: no sum.
fn marked() -> Value {
    json!({
        "platform": { "units_per_device": 2, "elements_per_unit": 2, "global_access": 4 },
        "parameters": { "WG": [1, 2, 4], "TS": [1, 2] }, "constraints": ["TS <= WG"],
        "launch": { "global_size": 8, "local_size": "WG" },
        "kernel": [{ "global": "TS" }, { "until": "3 * WG" }, { "compute": "TS" }]
    })
}

/// Numbers of rows that the optimum goes through, cluster by cluster: all inequalities are
/// equalities there.
fn tight(folder: &Folder) -> Vec<(usize, usize)> {
    let best = folder.json(CLAIM)["configuration"].clone();
    let clusters = folder.json(INEQUALITIES)["clusters"].as_array().expect("clusters").clone();
    let row = |cluster: &Value| {
        let to = cluster["to"].as_array().expect("names");
        let values: Vec<Value> =
            to.iter().map(|name| best[name.as_str().expect("a name")].clone()).collect();
        cluster["rows"].as_array().expect("rows").iter().position(|row| row[0] == json!(values))
    };
    clusters.iter().enumerate().map(|(c, cluster)| (c, row(cluster).expect("a row"))).collect()
}

#[test]
fn rows() {
    let folder = Folder::of(&chain());
    let rows = tight(&folder);
    assert_eq!(rows.len(), 4);
    let mut rejected = 0;
    for (c, r) in rows {
        for more in [1, -1, 1 << 40, -(1 << 40)] {
            let mut value = folder.json(INEQUALITIES);
            let least = &mut value["clusters"][c]["rows"][r][1];
            *least = (least.as_i64().expect("a number") + more).into();
            let why = folder.rejected(INEQUALITIES, &value.to_string());
            // Less than it could be is true, but does not carry what follows.
            let words = if more > 0 { "is not at least" } else { " not " };
            assert!(why.contains(words), "cluster {c}, row {r}, {more}: {why}");
            rejected += 1;
        }
        let mut value = folder.json(INEQUALITIES);
        value["clusters"][c]["rows"].as_array_mut().expect("rows").remove(r);
        let why = folder.rejected(INEQUALITIES, &value.to_string());
        assert!(why.contains("no row says what"), "cluster {c} without row {r}: {why}");
        rejected += 1;
    }
    assert_eq!(rejected, 20);
}

#[test]
fn clusters() {
    let folder = Folder::of(&chain());
    let all = |value: &mut Value| value["clusters"].as_array_mut().expect("clusters").clone();
    assert_eq!(all(&mut folder.json(INEQUALITIES)).len(), 4);
    let rejected = folder.reject(
        INEQUALITIES,
        &[
            ("no cluster at all", "what is left at the end depends on", |v| {
                v["clusters"] = json!([])
            }),
            ("without the last", "depends on P3", |v| {
                drop(v["clusters"].as_array_mut().unwrap().pop())
            }),
            ("without the first", "there is no earlier message 0", |v| {
                drop(v["clusters"].as_array_mut().unwrap().remove(0))
            }),
            ("the last first", "there is no earlier message", |v| {
                v["clusters"].as_array_mut().unwrap().rotate_right(1)
            }),
            ("a part twice", "is taken twice", |v| {
                let part = v["clusters"][0]["parts"][0].clone();
                v["clusters"][0]["parts"].as_array_mut().unwrap().push(part);
            }),
            ("a part left out", "is not at least", |v| v["clusters"][0]["parts"] = json!([])),
            ("a part that there is not", "there is no part 99", |v| {
                v["clusters"][0]["parts"] = json!([99])
            }),
            ("its own message", "there is no earlier message 0", |v| {
                v["clusters"][0]["messages"] = json!([0])
            }),
            ("a message twice", "is taken twice", |v| {
                let last = v["clusters"].as_array().unwrap().len() - 1;
                let message = v["clusters"][last]["messages"][0].clone();
                v["clusters"][last]["messages"].as_array_mut().unwrap().push(message);
            }),
            ("a parameter that there is not", "there is no parameter Q", |v| {
                v["clusters"][0]["over"] = json!(["Q"])
            }),
            ("parameters in another order", "not in the order", |v| {
                v["clusters"][0]["over"].as_array_mut().unwrap().reverse();
            }),
            ("over too few parameters", "over other parameters", |v| {
                drop(v["clusters"][0]["over"].as_array_mut().unwrap().pop());
            }),
            ("a message over no parameter", "values for 0 parameters", |v| {
                v["clusters"][0]["to"] = json!([])
            }),
            ("a row of two values", "a row of 2 values", |v| {
                v["clusters"][0]["rows"][0][0].as_array_mut().unwrap().push(1.into());
            }),
            ("a value that there is not", "is never 77", |v| {
                v["clusters"][0]["rows"][0][0][0] = 77.into()
            }),
            ("a row twice", "two rows for", |v| {
                let row = v["clusters"][0]["rows"][0].clone();
                v["clusters"][0]["rows"].as_array_mut().unwrap().push(row);
            }),
            ("a bound that is a text", "invalid type", |v| {
                v["clusters"][0]["rows"][0][1] = "1".into()
            }),
            ("a bound that is no whole number", "invalid type", |v| {
                v["clusters"][0]["rows"][0][1] = 1.5.into()
            }),
            ("an unknown field", "unknown field", |v| v["clusters"][0]["trust"] = json!(true)),
            ("the waves in every part", "is not at least", |v| v["by_group"] = json!(false)),
            ("a proof that is a list", "invalid length", |v| *v = json!([])),
        ],
    );
    assert_eq!(rejected, 21);
}

/// A walk is as deep as its parameters are many: a file says how many.
#[test]
fn too_many_parameters() {
    let names: Vec<String> = (0..10_000).map(|i| format!("P{i}")).collect();
    let mut problem = chain();
    let four = problem["parameters"].as_object().expect("parameters").clone();
    let more = names.iter().skip(4).map(|name| (name.clone(), json!([1])));
    problem["parameters"] = Value::Object(four.into_iter().chain(more).collect());
    let proof = json!({ "by_group": true, "clusters":
        [{ "over": names, "parts": [0, 1, 2], "messages": [], "to": [], "rows": [[[], 0]] }] });
    let problem = read(&problem);
    let obligation = Obligation::new(&problem).expect("a sum");
    let proof = serde_json::from_value(proof).expect("a proof");
    let why = inequalities::check(&obligation, &proof, 1, &never).expect_err("too deep");
    assert_eq!(why.to_string(), "more parameters at once than can be looked at");
}

#[test]
fn claims() {
    let folder = Folder::of(&chain());
    let rejected = folder.reject(
        CLAIM,
        &[
            ("a tick more", "ticks are claimed, but the simulator takes", |v| {
                v["time"] = (v["time"].as_i64().unwrap() + 1).into()
            }),
            ("a tick less", "ticks are claimed, but the simulator takes", |v| {
                v["time"] = (v["time"].as_i64().unwrap() - 1).into()
            }),
            ("no time", "missing field `time`", |v| {
                drop(v.as_object_mut().unwrap().remove("time"))
            }),
            ("a time beyond 63 bits", "invalid", |v| v["time"] = json!(1e30)),
            ("another configuration", "ticks are claimed, but", |v| {
                v["configuration"]["P0"] = 5.into()
            }),
            ("a configuration that is not valid", "does not hold", |v| {
                v["configuration"] = json!({ "P0": 1, "P1": 1, "P2": 1, "P3": 1 });
            }),
            ("a value outside the domain", "is not in its domain", |v| {
                v["configuration"]["P0"] = 6.into()
            }),
            ("a parameter less", "has no value", |v| {
                drop(v["configuration"].as_object_mut().unwrap().remove("P2"))
            }),
            ("a parameter more", "no parameter has this name", |v| {
                v["configuration"]["Q"] = 1.into()
            }),
            ("another format", "but this program reads", |v| v["format"] = "proof".into()),
            ("another version", "but this program reads", |v| v["version"] = 2.into()),
            ("an unknown field", "unknown field", |v| v["proof_file"] = "../../proof".into()),
            ("an unknown proof", "unknown variant", |v| v["proof"] = "trust-me".into()),
            ("a proof by simulation instead", "the claim's proof is by simulation", |v| {
                v["proof"] = "simulation".into()
            }),
        ],
    );
    assert_eq!(rejected, 14);
}

#[test]
fn problems() {
    let folder = Folder::of(&chain());
    let rejected = folder.reject(
        PROBLEM,
        &[
            ("a cheaper price", "the simulator takes", |v| v["platform"]["compute_op"] = 2.into()),
            ("one unit", "the simulator takes", |v| v["platform"]["units_per_device"] = 1.into()),
            ("more elements", "the simulator takes", |v| {
                v["platform"]["elements_per_unit"] = 8.into()
            }),
            ("a platform elsewhere", "a certificate's problem is whole", |v| {
                v["platform"] = "../../h100.json".into()
            }),
            ("a shipped platform", "a certificate's problem is whole", |v| {
                v["platform"] = "h100".into()
            }),
            ("a kernel elsewhere", "the kernel is in another file", |v| {
                v["kernel"] = json!({ "opencl": "../../secret.cl", "entry": "k" });
            }),
            ("without the constraints", "is not at least", |v| v["constraints"] = json!([])),
            ("a larger domain", "no row says what", |v| {
                v["parameters"]["P1"] = "range(1, 6)".into()
            }),
            ("another statement", "the simulator takes", |v| {
                v["kernel"][0] = json!({ "compute": "P0" })
            }),
            ("without a statement", "the simulator takes", |v| {
                drop(v["kernel"].as_array_mut().unwrap().remove(2))
            }),
            ("items that differ", "the simulator takes", |v| {
                v["kernel"].as_array_mut().unwrap().push(json!({ "compute": "lid" }))
            }),
            ("a larger launch", "the simulator takes", |v| v["launch"]["global_size"] = 128.into()),
            ("another profile", "platform.warps", |v| v["profile"] = "published-2021".into()),
            ("another problem", "no parameter has this name", |v| *v = marked()),
            ("a version that there is not", "the only version so far", |v| v["version"] = 2.into()),
            ("no problem at all", "found null", |v| *v = json!(null)),
        ],
    );
    assert_eq!(rejected, 16);
}

/// What follows from the problem and the time is made anew and compared: no change of it gets past,
/// also none that would make the question easier.
#[test]
fn texts_that_follow() {
    let folder = Folder::of(&chain());
    let mut rejected = 0;
    for text in [Text::Question, Text::Induction, Text::Formula] {
        let (file, own) = (text.name(), folder.text(text.name()));
        let changes = [
            ("nothing", String::new()),
            ("a line more", format!("{own}* ;\n")),
            ("a line less", own.lines().take(own.lines().count() - 1).collect()),
            ("a constant", own.replacen('4', "5", 1)),
            (
                "false",
                own.replacen("(check-sat)", "(assert false)(check-sat)", 1)
                    .replacen("= 1 ;", "= 2 ;", 1),
            ),
            ("of another problem", Folder::of(&large::chain(3, 4)).text(file)),
        ];
        for (what, changed) in changes {
            assert_ne!(changed, own, "{file}: {what}");
            let why = folder.rejected(file, &changed);
            let follows = "is not what follows from the problem and the time claimed";
            let reasons = [follows, "does not name its clusters", "clusters: "];
            assert!(reasons.iter().any(|r| why.contains(r)), "{file}: {what}: {why}");
            rejected += 1;
        }
    }
    assert_eq!(rejected, 18);
    let (proof, own) = (Text::FormulaProof.name(), folder.text(Text::FormulaProof.name()));
    for changed in
        [own.replace("pol ", "a "), own.replace("output", "a 1 x1 >= 5 ;\noutput"), String::new()]
    {
        let why = folder.rejected(proof, &changed);
        assert_eq!(why, "formula.pbp: has other lines than a sum of the formula's");
    }
    let why = {
        std::fs::remove_file(folder.path().join(Text::Formula.name())).expect("removed");
        folder.why()
    };
    assert_eq!(why, "formula.pbp: is the proof of no formula");
}

/// The clusters that a formula names need not be those of the elimination, but must leave nothing
/// out.
#[test]
fn clusters_of_a_formula() {
    let folder = Folder::of(&chain());
    let own = folder.text(Text::Formula.name());
    let line = own.lines().find(|l| l.starts_with("* clusters: ")).expect("clusters");
    let shapes: Value = serde_json::from_str(&line["* clusters: ".len()..]).expect("JSON");
    let changes: [(&str, Change); 8] = [
        ("no cluster takes part", |v| v[0]["parts"] = json!([])),
        ("is taken twice", |v| {
            let part = v[0]["parts"][0].clone();
            v[0]["parts"].as_array_mut().unwrap().push(part);
        }),
        ("which it cannot", |v| v[0]["parts"] = json!([77])),
        ("not in the order", |v| v[0]["over"].as_array_mut().unwrap().reverse()),
        ("not in the order", |v| v[0]["over"] = json!([99])),
        ("that it does not have", |v| v[0]["to"] = json!([3])),
        ("cannot agree with", |v| v[0]["messages"] = json!([3])),
        ("no cluster takes part", |v| *v = json!([])),
    ];
    for (words, change) in changes {
        let mut changed = shapes.clone();
        change(&mut changed);
        assert_ne!(changed, shapes, "{words}");
        let why = folder
            .rejected(Text::Formula.name(), &own.replace(line, &format!("* clusters: {changed}")));
        assert!(why.contains(words), "{words}: {why}");
    }
}

/// VeriPB rejects every proof that was changed.
#[test]
fn proofs_of_a_formula() {
    let folder = Folder::of(&chain());
    let own = folder.text(Text::FormulaProof.name());
    let time = folder.json(CLAIM)["time"].as_i64().expect("a time");
    let line = own.lines().find(|l| l.starts_with("pol ")).expect("arithmetic");
    let (first, rest) = line[4..].split_once(' ').expect("a step");
    let conclusion = own.lines().find(|l| l.starts_with("conclusion")).expect("a conclusion");
    let (before, last) = line.trim_end_matches(" * + ;").rsplit_once(' ').expect("a number");
    let more = last.parse::<i64>().expect("a number") + 1;
    let flipped = |literal: &str| match literal.strip_prefix('~') {
        Some(x) => x.to_owned(),
        None => format!("~{literal}"),
    };
    let witness = conclusion.split(" : ").last().expect("a witness").trim_end_matches(" ;");
    let one = witness.split(' ').next().expect("a literal");
    let changes = [
        ("no arithmetic", own.replace(line, "")),
        ("cut", own[..own.len() / 2].to_owned()),
        ("empty", String::new()),
        ("another line first", own.replace(line, &format!("pol {}{rest}", first.len() + 900))),
        ("once more", own.replace(line, &format!("{before} {more} * + ;"))),
        ("a bound above", own.replace(&format!("BOUNDS {time}"), &format!("BOUNDS {}", time + 1))),
        ("a bound below", own.replace(&format!("{time} :"), &format!("{} :", time - 1))),
        ("no conclusion", own.replace(conclusion, "conclusion NONE ;")),
        ("another witness", own.replace(witness, &witness.replacen(one, &flipped(one), 1))),
        ("nothing but the claim", own.replace(line, "a +1 x1 >= 5 ;")),
        ("another version", own.replace("version 3.0", "version 9.0")),
        ("of another problem", Folder::of(&large::chain(3, 4)).text(Text::FormulaProof.name())),
    ];
    for (what, changed) in changes {
        assert_ne!(changed, own, "{what}");
        let texts = Texts::from([
            (Text::Formula, folder.text(Text::Formula.name())),
            (Text::FormulaProof, changed),
        ]);
        match outside::said(&texts, time) {
            Err(e) => assert!(e.to_string().contains("does not verify it"), "{what}: {e}"),
            Ok(said) => assert!(
                matches!(said.as_slice(),
                    [ToolReport::NotChecked(absent)] if absent.ends_with("not on PATH")),
                "{what}: {said:?}"
            ),
        }
    }
}

/// Trees of boxes.
#[test]
fn boxes() {
    let problem = read(&large::wide());
    let best = Configuration(vec![4, 12, 12, 12, 12, 12, 12, 12]);
    let folder = Folder(tempfile::tempdir().expect("a folder"));
    let written = certificate(&problem, &best, 128).expect("a certificate");
    written.write(folder.path()).expect("written");
    check(&Certificate::read(folder.path()).expect("read"), None, &never).expect("it holds");
    let rejected = folder.reject(
        BRANCHES,
        &[
            ("no box", "is missing for P0=1..12", |v| v["boxes"] = json!([])),
            ("one leaf", "are not excluded for P0=1..12", |v| v["boxes"] = json!([null])),
            ("without the last", "is missing", |v| drop(v["boxes"].as_array_mut().unwrap().pop())),
            ("a leaf more", "belongs to no box", |v| {
                v["boxes"].as_array_mut().unwrap().push(Value::Null)
            }),
            ("another cut", "boxes[", |v| v["boxes"][0][1] = json!(5)),
            ("a cut at the end", "cannot be cut at P0 = 12", |v| v["boxes"][0][1] = json!(12)),
            ("a cut at no value", "cannot be cut at P0 = 99", |v| v["boxes"][0][1] = json!(99)),
            ("another parameter", "cannot be cut at Q", |v| v["boxes"][0][0] = json!("Q")),
            ("a cut that is a text", "invalid type", |v| v["boxes"][0][1] = json!("6")),
            ("an unknown field", "unknown field", |v| v["trust"] = json!(true)),
        ],
    );
    assert_eq!(rejected, 10);
    folder.put(INEQUALITIES, b"{}");
    assert_eq!(folder.why(), "inequalities.json: is there, but the claim's proof is by branches");
}

#[test]
fn by_simulation() {
    let folder = Folder::of(&marked());
    assert_eq!(folder.json(CLAIM)["proof"], "simulation");
    let rejected = folder.reject(
        CLAIM,
        &[
            ("a tick less", "ticks are claimed, but", |v| {
                v["time"] = (v["time"].as_i64().unwrap() - 1).into()
            }),
            ("a slower configuration", "ticks are claimed, but", |v| {
                v["configuration"] = json!({ "WG": 4, "TS": 2 })
            }),
            ("inequalities that are not there", "inequalities.json", |v| {
                v["proof"] = "inequalities".into()
            }),
        ],
    );
    assert_eq!(rejected, 3);
    // What is true of a slower configuration is not the least.
    let problem: Problem = read(&marked());
    let slower =
        problem.bind(&[("WG".to_owned(), 4), ("TS".to_owned(), 2)].into_iter().collect()).unwrap();
    let time = tickbound_simulator::simulate(&problem, &slower, &Default::default()).unwrap().time;
    let mut claim = folder.json(CLAIM);
    claim["time"] = time.into();
    claim["configuration"] = json!({ "WG": 4, "TS": 2 });
    let why = folder.rejected(CLAIM, &claim.to_string());
    assert!(why.contains("ticks, but") && why.contains("are claimed"), "{why}");
    // The proof of another problem proves nothing of this one.
    let other = Folder::of(&chain());
    claim["proof"] = "inequalities".into();
    folder.put(CLAIM, claim.to_string().as_bytes());
    folder.put(INEQUALITIES, other.text(INEQUALITIES).as_bytes());
    let why = folder.why();
    assert!(why.contains("waits for a mark"), "{why}");
}

#[test]
fn files() {
    for file in [CLAIM, PROBLEM, INEQUALITIES] {
        let folder = Folder::of(&chain());
        let text = folder.text(file);
        for (what, cut) in
            [("half a file", &text[..text.len() / 2]), ("an empty file", ""), ("no JSON", "{]")]
        {
            let why = folder.rejected(file, cut);
            assert!(why.starts_with(&format!("{file}: ")), "{what}: {why}");
        }
        folder.put(file, b"{ \"time\": \"\xff\xfe\" }");
        assert!(folder.why().starts_with(&format!("{file}: ")), "{}", folder.why());
        // A link to the very file that was there, but outside.
        let outside = tempfile::tempdir().expect("a folder");
        std::fs::write(outside.path().join("own"), &text).expect("written");
        std::fs::remove_file(folder.path().join(file)).expect("removed");
        assert!(
            folder.why().starts_with(&format!("{file}: there is no such file")),
            "{}",
            folder.why()
        );
        symlink(outside.path().join("own"), folder.path().join(file)).expect("a link");
        assert_eq!(folder.why(), format!("{file}: is no regular file"));
        std::fs::remove_file(folder.path().join(file)).expect("removed");
        std::fs::create_dir(folder.path().join(file)).expect("a folder");
        assert_eq!(folder.why(), format!("{file}: is no regular file"));
    }
    let folder = Folder::of(&chain());
    folder.put("proof.txt", b"trust me");
    assert_eq!(folder.why(), "proof.txt: is no file of a certificate; remove it");
    // Nor is one written over what is no certificate.
    let certificate = Folder::of(&marked());
    let written = Certificate::read(certificate.path()).expect("read").write(folder.path());
    assert_eq!(
        written.unwrap_err().to_string(),
        "proof.txt: is no file of a certificate; remove it"
    );
    std::fs::remove_file(folder.path().join("proof.txt")).expect("removed");
    Certificate::read(certificate.path()).expect("read").write(folder.path()).expect("replaced");
    assert!(!folder.path().join(INEQUALITIES).exists());
    check(&Certificate::read(folder.path()).expect("read"), None, &never).expect("it holds");
    // A problem alone is somebody's own, a claim alone what a kill has left.
    let own = tempfile::tempdir().expect("a folder");
    std::fs::write(own.path().join(PROBLEM), "{}").expect("written");
    let written = Certificate::read(certificate.path()).expect("read").write(own.path());
    assert_eq!(
        written.unwrap_err().to_string(),
        "problem.json: is there without claim.json, so it is no certificate's; move it, or write \
         elsewhere"
    );
    assert_eq!(std::fs::read_to_string(own.path().join(PROBLEM)).expect("kept"), "{}");
    std::fs::rename(own.path().join(PROBLEM), own.path().join(CLAIM)).expect("renamed");
    Certificate::read(certificate.path()).expect("read").write(own.path()).expect("replaced");
}

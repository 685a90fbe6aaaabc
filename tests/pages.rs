//! The pages of `--html`: what is in them, and what they do in a browser.
//!
//! The browser runs without a screen. It is given a copy of a page with two more scripts: one
//! before all others, which keeps what goes wrong, and one after them, which does what a reader
//! does and notes what the page then shows.

use std::path::{Path, PathBuf};
use std::time::Duration;

use assert_cmd::Command;
use assert_cmd::cargo::cargo_bin_cmd;
use predicates::str::contains;
use serde_json::{Value, json};
use tempfile::TempDir;

const ABSTRACT: &str = "examples/problems/abstract.json";
const MATMUL: &str = "examples/problems/matmul.json";

fn tickbound(arguments: &[&str]) -> Command {
    let mut command = cargo_bin_cmd!("tickbound");
    command.current_dir(env!("CARGO_MANIFEST_DIR")).timeout(Duration::from_secs(120));
    command.args(arguments);
    command
}

/// The page that a command writes.
fn page(folder: &TempDir, name: &str, arguments: &[&str]) -> PathBuf {
    let path = folder.path().join(name);
    tickbound(arguments).arg("--html").arg(&path).assert().success();
    path
}

/// The JSON that the page's script reads.
fn data(page: &str) -> Value {
    let (_, rest) = page.split_once("id=\"data\">").expect("data");
    let (text, _) = rest.split_once("</script>").expect("an end");
    serde_json::from_str(text).expect("JSON")
}

/// Times of the abstract kernel as `measure` keeps them, and one that failed.
fn measured(folder: &TempDir) -> String {
    let mut cache = serde_json::Map::new();
    for (wg, ts, time) in [(4, 2, 0.5), (4, 4, 0.25), (8, 2, 0.125), (8, 4, 0.1), (8, 8, 0.3)] {
        cache.insert(format!("{wg},{ts}"), json!({ "WG": wg, "TS": ts, "time": time }));
    }
    let all =
        json!({ "device_name": "<a device>", "tune_params_keys": ["WG", "TS"], "cache": cache });
    let path = folder.path().join("cache.json");
    std::fs::write(&path, all.to_string()).expect("written");
    path.to_string_lossy().into_owned()
}

#[test]
fn what_a_page_of_tune_has() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = page(&folder, "page.html", &["tune", ABSTRACT]);
    let text = std::fs::read_to_string(path).expect("written");
    // The answer is there without the script.
    for part in [
        "<strong>156 ticks</strong>",
        "least time, proved",
        "<li>WG <b>8</b></li>",
        "<dt>next best</dt>",
    ] {
        assert!(text.contains(part), "{part}");
    }
    // Nothing is fetched.
    let plain = text.replace("http://www.w3.org/2000/svg", "");
    for banned in ["http://", "https://", "url(", "@import", "src="] {
        assert!(!plain.contains(banned), "{banned}");
    }
    insta::assert_snapshot!(data(&text));
}

#[test]
fn names_cannot_break_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let hostile = r#"</script><script>hacked()</script><img src=x onerror=hacked()>&lt;"'-->"#;
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(ABSTRACT))
        .expect("the problem");
    let mut problem: Value = serde_json::from_str(&text).expect("JSON");
    problem["name"] = json!(hostile);
    relabel(&mut problem["kernel"], hostile);
    let file = folder.path().join("p.json");
    std::fs::write(&file, problem.to_string()).expect("written");
    let path = page(&folder, "page.html", &["tune", &file.to_string_lossy()]);
    let text = std::fs::read_to_string(&path).expect("written");
    assert!(text.contains("&lt;script&gt;hacked()"), "the name is shown");
    assert!(!text.contains("<img") && !text.contains("<script>hacked"), "{text}");
    // Two scripts: the data, and ours.
    assert_eq!((text.matches("<script").count(), text.matches("</script").count()), (2, 2));
    let steps = data(&text)["timelines"][0]["steps"].clone();
    assert!(steps.as_array().expect("steps").contains(&json!(hostile)), "{steps}");
    if let Some(seen) =
        seen(&path, 1280, "document.querySelectorAll('img').length + (window.hacks || 0)")
    {
        assert_eq!((&seen["faults"], &seen["did"]), (&json!([]), &json!(0)));
    }
}

/// Gives every statement a label.
fn relabel(program: &mut Value, label: &str) {
    match program {
        Value::Array(all) => all.iter_mut().for_each(|each| relabel(each, label)),
        Value::Object(statement) => {
            for body in ["body", "then", "else"] {
                if let Some(body) = statement.get_mut(body) {
                    relabel(body, label);
                }
            }
            if ["global", "until", "compute"].iter().any(|access| statement.contains_key(*access)) {
                statement.insert("name".into(), json!(label));
            }
        }
        _ => {}
    }
}

#[test]
fn pages_are_refused_before_the_search() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("p.json");
    std::fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join(ABSTRACT), &file).expect("copied");
    let file = file.to_string_lossy().into_owned();
    let refused = |arguments: &[&str], why: &str| {
        tickbound(arguments).assert().code(2).stdout("").stderr(contains(why.to_owned()));
    };
    refused(&["tune", &file, "--html", &file], "--html");
    refused(&["tune", &file, "--html", "/nowhere/page.html"], "/nowhere/page.html");
    refused(&["tune", &file, "--html", "x.svg", "--plot", "x.svg"], "names the same file");
    refused(
        &["tune", &file, "--plot", "x.pdf"],
        "--plot x.pdf: pictures are .svg or .png; name it x.svg or x.png",
    );
    let why = "--trace x.pdf: timelines are .svg, .png or .json; name it x.svg, x.png or x.json";
    refused(&["tune", &file, "--trace", "x.pdf"], why);
    refused(&["simulate", &file, "--set", "WG=8", "--trace", "x.pdf"], why);
    refused(&["tune", "examples/kernels/gemm.json", "--plot", "x.svg"], "take --html");
    refused(
        &["score", ABSTRACT, "--against", &measured(&folder), "--plot", "x.v2"],
        "name it x.svg",
    );
}

// In a browser.

/// The browser, or nothing and a word about it.
fn browser() -> Option<String> {
    let named = std::env::var("TICKBOUND_BROWSER").ok();
    let here = |name: &String| {
        let found = std::process::Command::new(name).arg("--version").output();
        found.is_ok_and(|output| output.status.success())
    };
    let known = ["chromium-headless-shell", "chromium", "google-chrome"].map(str::to_owned);
    let found = named.into_iter().chain(known).find(here);
    if found.is_none() {
        assert!(std::env::var_os("CI").is_none(), "no browser");
        eprintln!("skipped: no browser; scripts/setup-browser.sh installs one");
    }
    found
}

/// What a page shows at a width of so many pixels after `act`, an expression in JavaScript, and
/// what went wrong in it.
fn seen(page: &Path, width: u32, act: &str) -> Option<Value> {
    let browser = browser()?;
    let text = std::fs::read_to_string(page).expect("a page");
    let before = "<script>var faults = []; var hacked = () => { window.hacks = 1; };
        addEventListener('error', (event) => faults.push(event.message));
        addEventListener('securitypolicyviolation', (event) => \
        faults.push(event.violatedDirective));
        console.error = console.warn = (...all) => faults.push(all.join(' '));</script>";
    let after = format!(
        "<script>var did; try {{ did = {act}; }} catch (e) {{ faults.push(String(e)); }}
        var root = document.documentElement;
        var seen = {{ did, faults, wide: root.scrollWidth - root.clientWidth,
            out: [...document.querySelectorAll('svg.chart text')].filter((text) => {{
                var inner = text.getBoundingClientRect(), outer = \
                text.closest('svg').getBoundingClientRect();
                return inner.left < outer.left - 1 || inner.right > outer.right + 1;
            }}).map((text) => text.textContent) }};
        document.title = 'SEEN' + encodeURIComponent(JSON.stringify(seen)) + \
        'NEES';</script></body>"
    );
    let with =
        text.replacen("<head>", &format!("<head>{before}"), 1).replacen("</body>", &after, 1);
    let copy = page.with_extension(format!("{width}.html"));
    std::fs::write(&copy, with).expect("written");
    let profile = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(browser);
    command.args([
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--dump-dom",
    ]);
    command.arg(format!("--user-data-dir={}", profile.path().display()));
    command.arg(format!("--window-size={width},900")).arg(format!("file://{}", copy.display()));
    let output = command.timeout(Duration::from_secs(120)).output().expect("the browser runs");
    let dom = String::from_utf8_lossy(&output.stdout);
    let (_, rest) = dom.split_once("SEEN").unwrap_or_else(|| panic!("no answer: {output:?}"));
    let (seen, _) = rest.split_once("NEES").expect("an end");
    let seen = percent_decoded(seen);
    Some(serde_json::from_str(&seen).unwrap_or_else(|e| panic!("{e}: {seen}")))
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = (*first == b'%').then(|| std::str::from_utf8(&after[..2]).expect("two digits"));
        bytes.push(code.map_or(*first, |hex| u8::from_str_radix(hex, 16).expect("digits")));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    String::from_utf8(bytes).expect("UTF-8")
}

/// Functions for what a reader does.
const READER: &str = r##"
    var all = (selector) => [...document.querySelectorAll(selector)];
    var column = (n) => all("#table tbody tr").map((row) => row.cells[n].textContent);
    var press = (n) => all("#table th button")[n].click();
    var choose = (selector, value) => {
        var select = document.querySelector(selector);
        select.value = value;
        select.dispatchEvent(new Event("change"));
    };
    var hover = (selector) => {
        var mark = document.querySelector(selector);
        var at = { bubbles: true, clientX: 20, clientY: 20 };
        mark.dispatchEvent(new PointerEvent("pointerover", at));
        var tip = document.getElementById("tip");
        return tip.hidden ? null : tip.textContent;
    };
    var count = () => document.getElementById("count").textContent;
"##;

/// What `act`, an expression, gives in a page that nothing is wrong with, neither wide nor narrow.
pub fn done(page: &Path, act: &str) -> Option<Value> {
    let act = format!("(() => {{ {READER}; return {act}; }})()");
    let at = |width: u32| {
        let seen = seen(page, width, &act)?;
        assert_eq!(seen["faults"], json!([]), "{} at {width}", page.display());
        assert_eq!(seen["wide"], 0, "{} at {width}: wider than the screen", page.display());
        assert_eq!(seen["out"], json!([]), "{} at {width}: text that is cut", page.display());
        Some(seen["did"].clone())
    };
    let (wide, narrow) = (at(1280)?, at(400)?);
    assert_eq!(wide, narrow);
    Some(wide)
}

#[test]
fn a_page_of_tune_in_a_browser() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = page(&folder, "page.html", &["tune", MATMUL, "--input", "n=64"]);
    let Some(did) = done(
        &page,
        r##"({
            first: column(0)[0],
            rows: column(0).length,
            sorted: (press(0), column(0)[0]),
            values: (press(1), [...new Set(column(1))]),
            cells: all("#heat .cell").length,
            strips: all("#strips figure").length,
            tip: hover("#heat .cell"),
            dot: hover("#strips .dot"),
            block: hover("section.timeline svg.chart rect.global"),
            lanes: all("section.timeline .lane").length,
            filtered: (choose("#filters select", "32"), [count(), [...new Set(column(1))], all("#heat .cell").length]),
            open: document.querySelector("#heat figcaption").textContent,
            turned: (choose("#heat [data-axis=x]", "1"), document.querySelector("#heat [data-axis=y]").value),
            again: (document.querySelector("#filters button").click(), count()),
            spent: (all(".spent th button")[1].click(), all(".spent tbody")[0].rows[0].cells[0].textContent),
        })"##,
    ) else {
        return;
    };
    insta::assert_json_snapshot!(did);
}

#[test]
fn a_page_of_score_in_a_browser() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = page(&folder, "page.html", &["score", ABSTRACT, "--against", &measured(&folder)]);
    let Some(did) = done(
        &page,
        r##"({
            rho: document.querySelector("#scatter figcaption").textContent,
            keys: all("#scatter .key").map((key) => key.textContent),
            dots: all("#scatter .dot").length,
            marks: all("#scatter .ring, #scatter .chosen").length,
            dot: hover("#scatter .dot"),
            measure: (choose("#measure", "1"), document.querySelector("#heat figcaption").textContent),
            best: all("#table tr.best").map((row) => row.cells[0].textContent),
        })"##,
    ) else {
        return;
    };
    insta::assert_json_snapshot!(did);
}

const MINIMUM: [&str; 5] =
    ["examples/kernels/minimum.json", "--profile", "resources", "--platform", "h200"];

/// Whether kernels can be read, which needs libclang; in CI it is a failure if not.
fn can_read() -> bool {
    let output = tickbound(&["explain", MINIMUM[0]]).output().expect("it runs");
    let complaints = String::from_utf8_lossy(&output.stderr).into_owned();
    let missing = complaints.contains("libclang");
    assert!(!missing || std::env::var_os("CI").is_none(), "{complaints}");
    !missing
}

/// The floor of the space is a fact and a line, those of configurations are columns.
#[test]
fn floors_on_a_page_of_tune() {
    if !can_read() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = page(&folder, "page.html", &[&["tune"], &MINIMUM[..], &["--floor"]].concat());
    let text = std::fs::read_to_string(&path).expect("written");
    let fact = "<dt>floor</dt><dd>4.0 us by L2: no configuration takes less on h200 (proved); the \
                model&#x27;s least time ";
    assert!(text.contains(fact), "{text}");
    let all = &data(&text)["configurations"];
    assert_eq!(
        (&all["roofline"]["floor"], &all["roofline"]["space"]),
        (&json!(1), &json!([4.011998, "L2"]))
    );
    assert_eq!(
        all["roofline"]["times"],
        json!([{ "measure": 0, "microseconds": 1.0 / 1980.0, "measured": false }])
    );
    let row = |values: Value| {
        all["rows"].as_array().expect("rows").iter().find(|row| row["values"] == values)
    };
    // 2^24 / (4 * 2) groups, each of which is started in 600 picoseconds at least.
    let small = row(json!([4, 2])).expect("a row");
    assert_eq!((&small["numbers"][1], &small["binds"]), (&json!(1258.2912), &json!("dispatch")));
    let large = row(json!([256, 256])).expect("a row");
    assert_eq!((&large["numbers"][1], &large["binds"]), (&json!(4.011998), &json!("L2")));
    let Some(did) = done(
        &path,
        r##"({
            terms: document.querySelector("#roofline figcaption").textContent,
            keys: all("#roofline .key").map((key) => key.textContent),
            lines: ["floor", "space"].map((kind) => all("#roofline div > .chart ." + kind).length),
            heads: all("#table th").map((head) => head.textContent),
            // The floor is one more measure of the heat map.
            measure: (choose("#measure", "1"),
                document.querySelector("#heat figcaption").textContent),
            sorted: (press(1), column(1)[0]),
            some: (choose("#filters select", "4"),
                document.querySelector("#roofline figcaption").textContent),
        })"##,
    ) else {
        return;
    };
    insta::assert_json_snapshot!(did);
    // Without --floor there is nothing of it.
    let path = page(&folder, "without.html", &[&["tune"], &MINIMUM[..]].concat());
    let text = std::fs::read_to_string(&path).expect("written");
    let all = &data(&text)["configurations"];
    assert_eq!((all.get("roofline"), all["measures"].as_array().map(Vec::len)), (None, Some(1)));
    assert!(!text.contains("<dt>floor</dt>") && !text.contains("\"binds\""));
}

/// Times below the floor of their configuration are marked, by their fastest run.
#[test]
fn floors_on_a_page_of_score() {
    if !can_read() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let mut cache = serde_json::Map::new();
    // Floors of 9.8304, 4.9152, 9.8304 and 314.5728 us: a run of the second is below, and the last.
    for (wg, ts, ms) in [
        (64, 16, [0.035, 0.034]),
        (64, 32, [0.03, 0.0032]),
        (256, 4, [0.06, 0.06]),
        (4, 8, [0.2, 0.2]),
    ] {
        let entry = json!({ "WG": wg, "TS": ts, "time": ms[0], "times": ms });
        cache.insert(format!("{wg},{ts}"), entry);
    }
    let times =
        json!({ "device_name": "NVIDIA H200", "tune_params_keys": ["WG", "TS"], "cache": cache });
    let against = folder.path().join("cache.json");
    std::fs::write(&against, times.to_string()).expect("written");
    let against = against.to_string_lossy().into_owned();
    let path =
        page(&folder, "page.html", &[&["score"], &MINIMUM[..], &["--against", &against]].concat());
    let text = std::fs::read_to_string(&path).expect("written");
    let fact = "<dt>floor</dt><dd>0.0049 ms by dispatch; the best measured is 0.65 of it; 2 of 4 \
                times are below the floor of their configuration; 2 contradict the floor by \
                dispatch</dd>";
    assert!(text.contains(fact), "{text}");
    let all = &data(&text)["configurations"];
    let first = &all["rows"][0];
    assert_eq!((&first["values"], &first["binds"]), (&json!([64, 32]), &json!("dispatch")));
    assert_eq!(first["numbers"], json!([0.03, 166_041, 0.0032, 4.9152]));
    assert_eq!(all["roofline"]["space"], Value::Null);
    let Some(did) = done(
        &path,
        r##"({
            terms: document.querySelector("#roofline figcaption").textContent,
            keys: all("#roofline .key").map((key) => key.textContent),
            marks: ["predicted", "measured", "below"].map(
                (kind) => all("#roofline div > .chart ." + kind).length),
            below: hover("#roofline div > .chart .below"),
            // What is below the line in the picture is what is marked.
            under: all("#roofline div > .chart .below").every((mark) => {
                const [x, y] = mark.getAttribute("d").match(/[\d.]+/g).map(Number);
                const line = document.querySelector("#roofline div > .chart .floor");
                const at = (name) => Number(line.getAttribute(name));
                const [x1, x2, y1, y2] = ["x1", "x2", "y1", "y2"].map(at);
                return y + 4 > y1 + ((x + 5 - x1) / (x2 - x1)) * (y2 - y1);
            }),
            heads: all("#table th").map((head) => head.textContent),
            sorted: (press(4), column(4)),
            one: (choose("#filters select", "256"),
                all("#roofline .key").map((key) => key.textContent)),
        })"##,
    ) else {
        return;
    };
    insta::assert_json_snapshot!(did);
}

#[test]
fn a_page_of_compare_in_a_browser() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = page(&folder, "page.html", &["compare", ABSTRACT, "--engines", "smt,enumerate"]);
    let names = r##"((names) => [names(), (all("th button")[0].click(), names()), (all("th button")[0].click(), names())])(
        () => all("tbody tr").map((row) => row.cells[0].textContent))"##;
    let Some(did) = done(&page, names) else { return };
    assert_eq!(did, json!([["smt", "enumerate"], ["enumerate", "smt"], ["smt", "enumerate"]]));
}

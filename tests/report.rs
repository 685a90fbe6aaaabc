//! Heat maps, timelines and tables, as a person or another program gets them.

use std::collections::BTreeMap;

use serde_json::Value;
use tickbound_report::{Axis, HeatMap, ReportError, Table, TimelineSpan, write_timeline};

fn map(columns: usize, rows: usize) -> HeatMap {
    let axis = |name: &str, n: usize| Axis {
        name: name.into(),
        values: (0..n as i64).map(|v| v + 1).collect(),
    };
    let time = |i: usize, j: usize| 40 + (i as i64 * 7 + 1) * (j as i64 * 13 + 1);
    HeatMap {
        title: format!("{columns} by {rows}"),
        x: axis("WG", columns),
        y: axis("TS", rows),
        cells: (0..rows)
            .map(|j| (0..columns).map(|i| (i + j != 3).then(|| time(i, j))).collect())
            .collect(),
        optimum: vec![(0, 0)],
    }
}

#[test]
fn svg_contains_what_a_reader_needs() {
    let svg = map(5, 8).svg().unwrap_or_else(|e| panic!("{e}"));
    for text in
        ["5 by 8", "WG", "TS", "41", "time in ticks", "optimum: 41 ticks", "no valid configuration"]
    {
        assert!(svg.contains(&format!("\n{text}\n")), "{text}");
    }
    // The background, 40 cells, the legend's two boxes; two outlines of two frames of four bars;
    // the colour bar: 8 rows of 54 pixels, and the ticks beside it.
    let ticks = ["41", "100", "200", "500", "1000", "2000", "2708"];
    assert!(ticks.iter().all(|t| svg.contains(&format!("\n{t}\n"))));
    assert_eq!(svg.matches("<rect ").count(), 1 + 40 + 2 + 2 * 2 * 4 + 8 * 54 + ticks.len());
}

#[test]
fn the_same_map_gives_the_same_bytes() {
    let folder = tempfile::tempdir().expect("a folder");
    for (columns, rows) in [(1, 1), (2, 2), (30, 30), (512, 3)] {
        let bytes = |name: &str| {
            let written = map(columns, rows)
                .write(folder.path().join(name))
                .unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(
                written,
                [
                    folder.path().join(format!("{name}.svg")),
                    folder.path().join(format!("{name}.png"))
                ]
            );
            written.iter().map(|p| std::fs::read(p).expect("a file")).collect::<Vec<_>>()
        };
        assert_eq!(bytes("a"), bytes("b"), "{columns} x {rows}");
        assert!(bytes("a")[1].starts_with(b"\x89PNG"));
    }
}

#[test]
fn the_extension_chooses_the_format() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, files) in
        [("a.svg", vec!["a.svg"]), ("b.PNG", vec!["b.PNG"]), ("c", vec!["c.svg", "c.png"])]
    {
        let written = map(2, 2).write(folder.path().join(name)).unwrap_or_else(|e| panic!("{e}"));
        let expected: Vec<_> = files.iter().map(|f| folder.path().join(f)).collect();
        assert_eq!(written, expected);
        assert!(expected.iter().all(|f| f.exists()));
    }
    for name in ["d.pdf", "d.v2"] {
        let refused = map(2, 2).write(folder.path().join(name)).expect_err("refused").to_string();
        assert!(refused.contains("d.svg or "), "{refused}");
    }
}

#[test]
fn maps_that_are_refused() {
    let change = |f: fn(&mut HeatMap)| {
        let mut m = map(2, 2);
        f(&mut m);
        m.svg().expect_err("refused").to_string()
    };
    assert_eq!(
        change(|m| m.x.values.clear()),
        "heat map \"2 by 2\": `WG` has 0 values, not 1 to 512"
    );
    assert_eq!(
        change(|m| drop(m.cells.pop())),
        "heat map \"2 by 2\": the cells are not 2 rows of 2"
    );
    assert_eq!(change(|m| m.cells[1][0] = Some(-4)), "heat map \"2 by 2\": a time of -4 ticks");
    assert_eq!(
        change(|m| m.optimum = vec![(0, 2)]),
        "heat map \"2 by 2\": the optimum (0, 2) is no cell"
    );
    let missing = map(2, 2).write("no/such/folder/plot").expect_err("no folder");
    assert!(matches!(missing, ReportError::Write { .. }), "{missing}");
    assert!(matches!(map(2, 2).write("no/such/folder/plot.png"), Err(ReportError::Write { .. })));
}

#[test]
fn maps_at_the_edge_can_be_drawn() {
    let mut m = map(2, 2);
    m.cells = vec![vec![None; 2]; 2];
    m.optimum.clear();
    assert!(m.svg().is_ok());
    m.cells[0][0] = Some(0);
    m.cells[1][1] = Some(i64::MAX);
    m.optimum = vec![(0, 0), (1, 0)];
    assert!(m.svg().is_ok());
    assert_eq!(m.bounds(), Some((0, i64::MAX)));
}

fn span(unit: i64, element: i64, name: &str, start: i64, end: i64) -> TimelineSpan {
    TimelineSpan {
        process: format!("unit {unit}"),
        thread: format!("element {element}"),
        name: name.into(),
        category: "global".into(),
        start,
        end,
        args: vec![("group".into(), unit), ("item".into(), element)],
    }
}

#[test]
fn a_small_timeline() {
    let mut out = Vec::new();
    let spans =
        [span(0, 1, "load \"A\"", 0, 8), span(0, 1, "barrier", 8, 8), span(10, 0, "load", 3, 11)];
    assert_eq!(write_timeline(&mut out, "abstract", spans).unwrap_or_else(|e| panic!("{e}")), 3);
    let text = String::from_utf8(out).expect("text");
    insta::assert_snapshot!(text.replace(env!("CARGO_PKG_VERSION"), "VERSION"), @r#"
{"displayTimeUnit":"ms",
"otherData":{"title":"abstract","time":"in ticks: 1 tick is written as 1 microsecond","producer":"tickbound VERSION"},
"traceEvents":[
{"name":"process_name","ph":"M","pid":1,"tid":0,"args":{"name":"unit 0"}},
{"name":"process_sort_index","ph":"M","pid":1,"tid":0,"args":{"sort_index":0}},
{"name":"thread_name","ph":"M","pid":1,"tid":1,"args":{"name":"element 1"}},
{"name":"thread_sort_index","ph":"M","pid":1,"tid":1,"args":{"sort_index":1}},
{"name":"load \"A\"","cat":"global","ph":"X","ts":0,"dur":8,"pid":1,"tid":1,"args":{"group":0,"item":1}},
{"name":"barrier","cat":"global","ph":"X","ts":8,"dur":0,"pid":1,"tid":1,"args":{"group":0,"item":1}},
{"name":"process_name","ph":"M","pid":2,"tid":0,"args":{"name":"unit 10"}},
{"name":"process_sort_index","ph":"M","pid":2,"tid":0,"args":{"sort_index":10}},
{"name":"thread_name","ph":"M","pid":2,"tid":2,"args":{"name":"element 0"}},
{"name":"thread_sort_index","ph":"M","pid":2,"tid":2,"args":{"sort_index":0}},
{"name":"load","cat":"global","ph":"X","ts":3,"dur":8,"pid":2,"tid":2,"args":{"group":10,"item":0}}
]}
"#);
}

#[test]
fn a_long_timeline_reads_back() {
    let (units, elements, steps) = (4, 16, 100);
    let spans = (0..steps).flat_map(|t| {
        (0..units)
            .flat_map(move |u| (0..elements).map(move |e| span(u, e, "step", t * 5, t * 5 + 4)))
    });
    let mut out = Vec::new();
    let count = write_timeline(&mut out, "long", spans).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(count, 6400);
    let json: Value = serde_json::from_slice(&out).expect("JSON");
    let events = json["traceEvents"].as_array().expect("events");
    let of_kind = |ph: &str, name: &str| {
        events.iter().filter(|e| e["ph"] == ph && (name.is_empty() || e["name"] == name)).count()
    };
    assert_eq!(of_kind("X", ""), 6400);
    assert_eq!((of_kind("M", "process_name"), of_kind("M", "process_sort_index")), (4, 4));
    assert_eq!((of_kind("M", "thread_name"), of_kind("M", "thread_sort_index")), (64, 64));
    assert_eq!(events.len(), 6400 + 4 * 2 + 64 * 2);

    let mut tracks: BTreeMap<(i64, i64), Vec<(i64, i64)>> = BTreeMap::new();
    let number = |e: &Value, key: &str| e[key].as_i64().expect("a number");
    for e in events.iter().filter(|e| e["ph"] == "X") {
        let track = (number(e, "pid"), number(e, "tid"));
        tracks.entry(track).or_default().push((number(e, "ts"), number(e, "dur")));
    }
    assert_eq!(tracks.len(), 64);
    let threads: std::collections::BTreeSet<i64> = tracks.keys().map(|(_, tid)| *tid).collect();
    assert_eq!(threads.len(), 64, "a thread's number belongs to one process");
    for spans in tracks.values_mut() {
        spans.sort_unstable();
        assert!(spans.windows(2).all(|w| w[0].0 + w[0].1 <= w[1].0), "overlap in {spans:?}");
    }
}

#[test]
fn spans_that_are_refused() {
    for (start, end) in [(5, 4), (-1, 3)] {
        let error =
            write_timeline(Vec::new(), "t", [span(2, 1, "load", start, end)]).expect_err("refused");
        let expected =
            format!("span \"load\" of unit 2, element 1: it lasts from {start} to {end}");
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn an_empty_timeline_is_a_timeline() {
    let mut out = Vec::new();
    assert_eq!(write_timeline(&mut out, "nothing", []).unwrap_or_else(|e| panic!("{e}")), 0);
    let json: Value = serde_json::from_slice(&out).expect("JSON");
    assert_eq!(json["traceEvents"], serde_json::json!([]));
}

#[test]
fn tables_align_numbers_and_text() {
    let table = Table::new(["größe", "time", "speed-up"])
        .row(["alpha", "-", "1.50x"])
        .row(["β|γ", "1200", "12.25x"])
        .row(["two\nlines", "-7"]);
    insta::assert_snapshot!(table.to_string(), @r"
größe      time  speed-up
---------  ----  --------
alpha         -     1.50x
β|γ        1200    12.25x
two lines    -7
");
    insta::assert_snapshot!(table.to_markdown(), @r"
| größe     | time | speed-up |
| :-------- | ---: | -------: |
| alpha     |    - |    1.50x |
| β\|γ      | 1200 |   12.25x |
| two lines |   -7 |          |
");
    assert!(!table.is_empty() && Table::new(["a"]).is_empty());
}

#[test]
fn tables_at_the_edge() {
    assert_eq!(Table::new([""; 0]).to_string(), "\n\n");
    assert_eq!(Table::new(["a", "b"]).to_string(), "a  b\n-  -\n");
    assert_eq!(Table::new(["a"]).row([1, 2]).to_string(), "a\n-  -\n1  2\n");
    assert_eq!(Table::new(["a"]).row([1]).to_markdown(), "|   a |\n| --: |\n|   1 |\n");
}

//! Pictures of connectors: no label lies on a line or on another, nothing leaves the picture, lines
//! end at borders.

use proptest::prelude::*;
use tickbound_reo::automaton::Automaton;
use tickbound_reo::bisimulation::Equivalence;
use tickbound_reo::connector::{Channel, ChannelEnd, Connector};
use tickbound_reo::draw::{self, Frame, GraphPicture, PicturePoint, Piece, Shape};
use tickbound_reo::export::{ExportSubject, picture};
use tickbound_reo::limits::ProductLimits;
use tickbound_reo::product::stepwise;
use tickbound_reo::run::{Player, Wanted};
use tickbound_reo::syntax::Source;

use crate::connectors::{connector, example, files, joined, request, shared, source};

/// The automaton beside a circuit: inner names hidden, states that do the same merged.
fn small(connector: &Connector) -> Automaton {
    let parts: Vec<&Automaton> = connector.parts.iter().map(|p| &p.automaton).collect();
    let options =
        stepwise::StepwiseOptions { hidden: connector.inner(), minimise: Some(Equivalence::Weak) };
    stepwise::compose(&parts, &options, &ProductLimits::memory(1 << 30)).unwrap().automaton
}

fn subject<'a>(connector: &'a Connector, automaton: &'a Automaton) -> ExportSubject<'a> {
    ExportSubject {
        name: &connector.name,
        automaton,
        symbols: &connector.symbols,
        inputs: &[],
        interface: &connector.interface,
    }
}

/// The upper left and lower right corner of the least box around a shape.
fn bounds(shape: &Shape) -> (PicturePoint, PicturePoint) {
    match shape {
        Shape::Circle(c, r, _) => (c.by(-r, -r), c.by(*r, *r)),
        Shape::Box(corner, width, height) | Shape::Shade(corner, width, height) => {
            (*corner, corner.by(*width, *height))
        }
        Shape::Text { centre, lines } => {
            let (width, height) = draw::size(lines);
            (centre.by(-width / 2.0, -height / 2.0), centre.by(width / 2.0, height / 2.0))
        }
        Shape::Area(points) => around(points),
        Shape::Path { .. } => around(&outline(shape)),
    }
}

/// Places along a line, close enough to each other that straight pieces between them are the
/// line; corners of anything else but text, which has none.
fn outline(shape: &Shape) -> Vec<PicturePoint> {
    match shape {
        Shape::Path { start, pieces, .. } => {
            let mut points = vec![*start];
            for piece in pieces {
                let from = points.last().copied().unwrap_or(*start);
                match piece {
                    Piece::Line(to) => points.push(*to),
                    Piece::Curve(a, b, to) => {
                        points.extend(
                            (1..=CUTS).map(|k| {
                                bezier([from, *a, *b, *to], f64::from(k) / f64::from(CUTS))
                            }),
                        );
                    }
                }
            }
            points
        }
        Shape::Area(points) => points.iter().chain(points.first()).copied().collect(),
        Shape::Circle(c, r, _) => (0..=CUTS)
            .map(|k| f64::from(k) / f64::from(CUTS) * std::f64::consts::TAU)
            .map(|angle| c.by(r * angle.cos(), r * angle.sin()))
            .collect(),
        Shape::Box(p, w, h) | Shape::Shade(p, w, h) => {
            vec![*p, p.by(*w, 0.0), p.by(*w, *h), p.by(0.0, *h), *p]
        }
        Shape::Text { .. } => Vec::new(),
    }
}

/// Straight pieces that stand for a curve or a circle.
const CUTS: u32 = 24;

fn bezier([a, b, c, d]: [PicturePoint; 4], t: f64) -> PicturePoint {
    let s = 1.0 - t;
    let (i, j, k, l) = (s * s * s, 3.0 * s * s * t, 3.0 * s * t * t, t * t * t);
    let x = i * a.x + j * b.x + k * c.x + l * d.x;
    PicturePoint { x, y: i * a.y + j * b.y + k * c.y + l * d.y }
}

fn around(points: &[PicturePoint]) -> (PicturePoint, PicturePoint) {
    let least = |of: fn(&PicturePoint) -> f64| points.iter().map(of).fold(f64::INFINITY, f64::min);
    let most =
        |of: fn(&PicturePoint) -> f64| points.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
    let (x, y) = (least(|p| p.x), least(|p| p.y));
    (PicturePoint { x, y }, PicturePoint { x: most(|p| p.x), y: most(|p| p.y) })
}

/// Whether a line from `a` to `b` has a place within a box.
fn meets((a, b): (PicturePoint, PicturePoint), (low, high): (PicturePoint, PicturePoint)) -> bool {
    let (mut from, mut to) = (0.0f64, 1.0f64);
    for (start, end, low, high) in [(a.x, b.x, low.x, high.x), (a.y, b.y, low.y, high.y)] {
        let step = end - start;
        if step.abs() < 1e-12 {
            if start <= low || start >= high {
                return false;
            }
        } else {
            let (s, t) = ((low - start) / step, (high - start) / step);
            from = from.max(s.min(t));
            to = to.min(s.max(t));
        }
    }
    from < to
}

/// Everything that pictures promise; `what` is the picture of.
fn orderly(picture: &GraphPicture, what: &str) {
    let shapes: Vec<(&str, &Shape)> =
        picture.items.iter().flat_map(|i| i.shapes.iter().map(|s| (i.key.as_str(), s))).collect();
    let labels: Vec<(&str, (PicturePoint, PicturePoint))> = shapes
        .iter()
        .filter(|(_, s)| matches!(s, Shape::Text { .. }))
        .map(|(key, s)| (*key, bounds(s)))
        .collect();
    for (key, shape) in &shapes {
        let (low, high) = bounds(shape);
        assert!(
            low.x >= 0.0 && low.y >= 0.0 && high.x <= picture.width && high.y <= picture.height,
            "{what}: {key} leaves the picture: {shape:?}"
        );
        for (owner, bounds) in &labels {
            for pair in outline(shape).windows(2) {
                assert!(
                    !meets((pair[0], pair[1]), *bounds),
                    "{what}: {key} meets the label of {owner}: {shape:?} {bounds:?}"
                );
            }
        }
    }
    for (k, (key, (low, high))) in labels.iter().enumerate() {
        for (other, (least, most)) in &labels[k + 1..] {
            let apart =
                low.x >= most.x || least.x >= high.x || low.y >= most.y || least.y >= high.y;
            assert!(apart, "{what}: the labels of {key} and {other} meet");
        }
    }
}

/// Lines with heads end at the circle or box that they go to: at least one is as near as a pixel.
fn ends_at_borders(picture: &GraphPicture, what: &str) {
    let shapes = || picture.items.iter().flat_map(|i| &i.shapes);
    for item in &picture.items {
        for pair in item.shapes.windows(2) {
            let (Shape::Path { .. }, Shape::Area(head)) = (&pair[0], &pair[1]) else { continue };
            let tip = head[0];
            let at_border = shapes().any(|shape| match shape {
                Shape::Circle(c, r, _) => ((tip.x - c.x).hypot(tip.y - c.y) - r).abs() < 1.0,
                Shape::Box(p, w, h) => {
                    let inside = (p.x - 1.0..=p.x + w + 1.0).contains(&tip.x)
                        && (p.y - 1.0..=p.y + h + 1.0).contains(&tip.y);
                    inside
                        && [tip.x - p.x, p.x + w - tip.x, tip.y - p.y, p.y + h - tip.y]
                            .iter()
                            .any(|d| d.abs() < 1.0)
                }
                _ => false,
            });
            assert!(at_border, "{what}: a head of {} ends at {tip:?}", item.key);
        }
    }
}

/// Draws a connector and its automaton, and checks both; gives them if they can be drawn.
fn checked(connector: &Connector, what: &str) -> Option<(GraphPicture, Option<GraphPicture>)> {
    let circuit = draw::circuit(connector, None).ok()?;
    orderly(&circuit, what);
    ends_at_borders(&circuit, what);
    let automaton = small(connector);
    let beside = picture(subject(connector, &automaton), None).ok();
    if let Some(beside) = &beside {
        orderly(beside, &format!("{what}, automaton"));
        ends_at_borders(beside, &format!("{what}, automaton"));
    }
    if let Ok(folder) = std::env::var("TICKBOUND_PICTURES") {
        let all: Vec<&GraphPicture> = [&circuit].into_iter().chain(&beside).collect();
        let name = what.replace(['/', ' '], "-");
        std::fs::write(format!("{folder}/{name}.svg"), draw::svg(what, &[(all, None)])).unwrap();
    }
    Some((circuit, beside))
}

const EXAMPLES: [(&str, &str, usize); 11] = [
    ("alternator.treo", "n=4", 10),
    ("barrier.treo", "n=3", 8),
    ("buffers.treo", "n=3", 3),
    ("chain.treo", "n=9", 9),
    ("lossy_fifo.treo", "", 2),
    ("producer_consumer.treo", "k=2", 5),
    ("router.treo", "n=5", 17),
    ("sequencer.treo", "n=4 start=go", 8),
    ("token_ring.treo", "n=3 station=polite", 9),
    ("turnstile.treo", "", 1),
    ("alternator.treo", "n=8", 22),
];

fn read(file: &str, settings: &str) -> Connector {
    let disk = crate::connectors::Disk(Vec::new());
    let made = tickbound_reo::treo::connector(&example(file), &disk, &request(settings));
    made.unwrap_or_else(|e| panic!("{file}: {e}"))
}

#[test]
fn examples() {
    for (file, settings, channels) in EXAMPLES {
        let connector = read(file, settings);
        assert_eq!(connector.circuit.len(), channels, "{file}");
        let (circuit, beside) = checked(&connector, &format!("{file} {settings}")).unwrap();
        let drawn = |start: char| circuit.items.iter().filter(|i| i.key.starts_with(start)).count();
        let ends: usize = connector.circuit.iter().map(|c| c.ends.len()).sum();
        assert_eq!(
            drawn('c'),
            channels + ends,
            "{file}: a sign for each channel, a line for each end"
        );
        assert!(beside.is_some(), "{file}");
    }
}

/// Pictures in rows, which were looked at when their heights were noted; an automaton below one.
#[test]
fn circuits_in_rows() {
    let mut heights = Vec::new();
    for (file, settings, width, height) in [
        ("chain.treo", "n=9", 400.0, 351.0),
        ("alternator.treo", "n=4", 600.0, 520.0),
        ("sequencer.treo", "n=4 start=go", 500.0, 314.0),
    ] {
        let connector = read(file, settings);
        let rows = draw::circuit(&connector, Some(width)).unwrap();
        assert!(rows.width <= width, "{} {width}", rows.width);
        if let Ok(folder) = std::env::var("TICKBOUND_PICTURES") {
            let svg = draw::svg("rows", &[(vec![&rows], None)]);
            std::fs::write(format!("{folder}/rows-{file}.svg"), svg).unwrap();
        }
        heights.push((rows.height, height));
        let automaton = small(&connector);
        let beside = picture(subject(&connector, &automaton), Some(width)).unwrap();
        let both = draw::stacked(&rows, &beside);
        orderly(&both, file);
        assert_eq!(both.items.len(), rows.items.len() + beside.items.len());
        assert_eq!(both.width, rows.width.max(beside.width));
    }
    assert!(heights.iter().all(|(found, height)| found == height), "{heights:?}");
}

/// The second half of a ring lies in the columns of its first half.
#[test]
fn rings_go_back() {
    let connector = read("sequencer.treo", "n=6 start=go");
    let (circuit, _) = checked(&connector, "sequencer").unwrap();
    let column = |name: &str| {
        let item = circuit.items.iter().find(|item| item.title == name).unwrap();
        let circle = item.shapes.iter().find_map(|shape| match shape {
            draw::Shape::Circle(middle, ..) => Some(middle.x),
            _ => None,
        });
        circle.unwrap()
    };
    let columns = [6, 1, 2, 3, 4, 5].map(|k| column(&format!("ring[{k}]")));
    assert!(columns[..4].is_sorted() && columns[0] < columns[3], "{columns:?}");
    assert_eq!([columns[5], columns[4]], [columns[1], columns[2]]);
}

/// Components as boxes: of two uses of a pair of buffers, with what stands beside them.
#[test]
fn components_as_boxes() {
    let text = "pair(x, y) { fifo1(x, m) fifo1(m, y) fifo1(x, z) sync(z, w) }
        f(a, c, d) { pair(a, b) pair(b, c) lossy(b, d) }";
    let whole = connector(text, "").unwrap_or_else(|e| panic!("{e}"));
    let folded = draw::folded(&whole);
    assert_eq!(folded.parts, whole.parts);
    let drawn = |channel: &Channel| {
        let end = |end: &ChannelEnd| format!("{}{}", end.node, if end.writes { "!" } else { "?" });
        let ends: Vec<String> = channel.ends.iter().map(end).collect();
        format!("{} {}", channel.kind, ends.join(" "))
    };
    let circuit: Vec<String> = folded.circuit.iter().map(drawn).collect();
    assert_eq!(circuit, ["pair.1 a? b!", "pair.2 b? c!", "lossy b? d!"]);
    let (picture, _) = checked(&folded, "folded").unwrap();
    let boxes = picture.items.iter().flat_map(|item| &item.shapes);
    assert_eq!(boxes.filter(|shape| matches!(shape, Shape::Box(..))).count(), 2);
    // A port that fires lights its box.
    let mut player = Player::new(&folded).unwrap();
    for wanted in Wanted::all(&Source::new("steps", "{a}")).unwrap() {
        player.follow(&wanted).unwrap();
    }
    let frames = draw::frames(&folded, None, &player.taken());
    let on: Vec<&str> = frames[1].on.iter().map(String::as_str).collect();
    assert_eq!(on, ["c0", "c0.0", "n0"]);
    assert_eq!(draw::folded(&folded).circuit.len(), 3);
}

#[test]
fn parts_without_a_circuit_are_components() {
    let text = r#"{ "format": "tickbound-reo", "version": 1,
        "connector": { "name": "two", "parts": [
        { "kind": "left", "automaton": { "names": ["a", "m"], "states": 1, "initial": [0],
          "steps": [ { "from": 0, "fire": ["a", "m"], "to": 0 } ] } },
        { "kind": "right", "automaton": { "names": ["m", "b"], "states": 1, "initial": [0],
          "steps": [ { "from": 0, "fire": ["m", "b"], "to": 0 } ] } } ], "written": ["b"] } }"#;
    let two = tickbound_reo::json::connector(&Source::new("two.json", text)).unwrap();
    let (circuit, _) = checked(&two, "two.json").unwrap();
    let boxes =
        circuit.items.iter().flat_map(|i| &i.shapes).filter(|s| matches!(s, Shape::Box(..)));
    assert_eq!(boxes.count(), 2);
    let cat = tickbound_reo::cat::connector(&example("fifo1.cat")).unwrap();
    assert!(checked(&cat, "fifo1.cat").is_some());
}

#[test]
fn connectors_by_other_hands() {
    let Some(folder) = shared() else { return };
    let mut drawn = 0;
    for file in files(&folder, "treo") {
        let source = source(&folder, &file);
        let disk =
            crate::connectors::Disk(vec![folder.join("library").to_string_lossy().into_owned()]);
        let Ok(connector) = tickbound_reo::treo::connector(&source, &disk, &request("")) else {
            continue;
        };
        if connector.parts.len() <= 60 {
            drawn += usize::from(checked(&connector, &file.display().to_string()).is_some());
        }
    }
    assert!(drawn >= 40, "{drawn}");
}

/// Channels between a few nodes, as Treo text.
pub fn circuits(channels: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    let channel = (0..15usize, 0..8usize, 0..8usize, 0..8usize).prop_map(|(kind, a, b, c)| {
        const KINDS: [&str; 15] = [
            "sync",
            "lossy",
            "fifo1",
            "fifo<3>",
            "fifofull<\"a datum\">",
            "syncdrain",
            "asyncdrain",
            "syncspout",
            "asyncspout",
            "filter<\"a_rather_long_predicate\">",
            "transformer<\"f\">",
            "overflowlossyfifo1",
            "merger",
            "replicator",
            "router",
        ];
        let third = if kind >= 12 { format!(", n{c}") } else { String::new() };
        format!("{}(n{a}, n{b}{third})", KINDS[kind])
    });
    proptest::collection::vec(channel, channels)
        .prop_map(|all| joined("some", &["n0", "n1", "n2", "n3"], &all.join(" ")))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn random_circuits(text in circuits(1..40)) {
        let connector = connector(&text, "").unwrap();
        let circuit = draw::circuit(&connector, None).unwrap();
        orderly(&circuit, &text);
        ends_at_borders(&circuit, &text);
        prop_assert_eq!(draw::circuit(&connector, None).unwrap(), circuit);
    }

    /// As orderly in rows; nothing is lost, and rows that hold several columns are not too wide.
    #[test]
    fn random_circuits_in_rows(text in circuits(1..40), width in 100..1000_u32) {
        let connector = connector(&text, "").unwrap();
        let whole = draw::circuit(&connector, None).unwrap();
        let width = f64::from(width);
        let rows = draw::circuit(&connector, Some(width)).unwrap();
        orderly(&rows, &text);
        ends_at_borders(&rows, &text);
        prop_assert_eq!(rows == whole, whole.width <= width);
        let keys = |p: &GraphPicture| -> Vec<String> {
            p.items.iter().map(|item| format!("{} {}", item.key, item.shapes.len())).collect()
        };
        prop_assert_eq!(keys(&rows), keys(&whole));
    }

    #[test]
    fn random_automata(family in crate::families::family(3, true), width in 100..800_u32) {
        let automaton = crate::families::by_definition(&family);
        let mut symbols = tickbound_reo::symbol::Symbols::new();
        for name in ["0", "1", "2", "3", "4"] {
            symbols.name(name);
        }
        let subject = ExportSubject { name: "f", automaton: &automaton, symbols: &symbols,
            inputs: &[], interface: &[] };
        for width in [None, Some(f64::from(width))] {
            let Ok(drawn) = picture(subject, width) else { continue };
            orderly(&drawn, "a random automaton");
            ends_at_borders(&drawn, "a random automaton");
            let keys = drawn.items.iter().filter(|i| i.key.starts_with('t')).count();
            prop_assert_eq!(keys, automaton.transitions());
        }
    }
}

#[test]
fn the_steps_of_a_run() {
    let two = connector("two(a, b) { fifo1(a, m) lossy(m, b) }", "").unwrap();
    let automaton = small(&two);
    let mut player = Player::new(&two).unwrap();
    for wanted in
        Wanted::all(&Source::new("steps", "{a = 7} {m} {a} {b = 1}")).unwrap().into_iter().take(3)
    {
        player.follow(&wanted).unwrap();
    }
    let frames = draw::frames(&two, Some(&automaton), &player.taken());
    let on = |k: usize| frames[k].on.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
    // Nodes are a, b, m; a datum that is lost lights the first half of its channel.
    assert_eq!(frames.len(), 4);
    assert_eq!(on(0), "s0");
    assert_eq!(on(1).split_once(" s").unwrap().0, "c0 c0.0 n0");
    assert_eq!(frames[1].caption, "1. {a = 7}  ->  $fifo1.1/m = 7");
    assert_eq!(on(2).split_once(" s").unwrap().0, "c0 c0.1 c1 c1.0 n2");
    assert_eq!(frames[2].caption, "2. {m = 7}");
    // Every key is that of an item.
    let pictures =
        [draw::circuit(&two, None).unwrap(), picture(subject(&two, &automaton), None).unwrap()];
    let known: Vec<&str> = pictures.iter().flat_map(|p| &p.items).map(|i| i.key.as_str()).collect();
    for frame in &frames {
        assert!(frame.on.iter().all(|key| known.contains(&key.as_str())), "{frame:?}");
    }
    let rows: Vec<(Vec<&GraphPicture>, Option<&Frame>)> =
        frames.iter().map(|f| (pictures.iter().collect(), Some(f))).collect();
    assert_eq!(draw::svg("two", &rows).matches("class=\"cap\"").count(), 4);
}

#[test]
fn a_drawing_as_text() {
    let connector = read("lossy_fifo.treo", "");
    let circuit = draw::circuit(&connector, None).unwrap();
    insta::assert_snapshot!("drawing", draw::svg("lossy <fifo>", &[(vec![&circuit], None)]));
}

#[test]
fn too_many_channels_are_refused() {
    let crowded =
        connector("many(a[0]?, a[n]!) { { sync(a[i-1], a[i]) | i : <1..n> } }", "n=301").unwrap();
    let error = draw::circuit(&crowded, None).unwrap_err().to_string();
    assert_eq!(
        error,
        "a drawing of 301 channels with 602 ends would not be readable (at most 300 and 1200); \
         draw a smaller size of it"
    );
    let most =
        connector("many(a[0]?, a[n]!) { { sync(a[i-1], a[i]) | i : <1..n> } }", "n=300").unwrap();
    orderly(&draw::circuit(&most, None).unwrap(), "300 channels");
}

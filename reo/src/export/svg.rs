//! A drawing, laid out by the crate `layout-rs`.

use layout::backends::svg::SVGWriter;
use layout::core::base::Orientation;
use layout::core::geometry::Point;
use layout::core::style::StyleAttr;
use layout::std_shapes::shapes::{Arrow, Element, ShapeKind};
use layout::topo::layout::VisualGraph;

use super::{ExportError, Subject, dot};

/// Most steps that can still be told apart.
const MAX_STEPS: usize = 300;

pub(super) fn write(subject: Subject<'_>) -> Result<String, ExportError> {
    let automaton = subject.automaton;
    let size = automaton.transitions().max(automaton.states());
    if size > MAX_STEPS {
        return Err(ExportError::Large { what: "a drawing", size, most: MAX_STEPS });
    }
    // The crate asserts what it expects of a graph; a failed assertion must not end the program.
    let drawn = std::panic::catch_unwind(|| draw(subject));
    drawn.map_err(|_| ExportError::Drawing("the layout failed".into()))
}

fn draw(subject: Subject<'_>) -> String {
    let automaton = subject.automaton;
    let mut graph = VisualGraph::new(Orientation::LeftToRight);
    let mut nodes = Vec::new();
    for state in 0..automaton.states() as u32 {
        let initial = automaton.initial().contains(&state);
        let shape = if initial {
            ShapeKind::new_double_circle(&state.to_string())
        } else {
            ShapeKind::new_circle(&state.to_string())
        };
        let element = Element::create(
            shape,
            StyleAttr::simple(),
            Orientation::LeftToRight,
            Point::new(48.0, 48.0),
        );
        nodes.push(graph.add_node(element));
    }
    for step in automaton.all_steps() {
        let arrow = Arrow::simple(&dot::text(subject, &step));
        graph.add_edge(arrow, nodes[step.from as usize], nodes[step.to as usize]);
    }
    let mut svg = SVGWriter::new();
    graph.do_it(false, false, false, &mut svg);
    svg.finalize()
}

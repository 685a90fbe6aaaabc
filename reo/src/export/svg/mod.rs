//! A drawing, laid out by the crate `layout-rs`.

mod canvas;

use layout::core::base::Orientation;
use layout::core::color::Color;
use layout::core::geometry::Point;
use layout::core::style::StyleAttr;
use layout::std_shapes::shapes::{Arrow, Element, ShapeKind};
use layout::topo::layout::VisualGraph;

use self::canvas::Canvas;
use super::dot;
use super::subject::{ExportError, Subject};

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
    let mut graph = VisualGraph::new(Orientation::TopToBottom);
    let mut nodes = Vec::new();
    for state in 0..automaton.states() as u32 {
        // An initial state has a bold border.
        let width = if automaton.initial().contains(&state) { 3 } else { 1 };
        let black = Color::fast("black");
        let style = StyleAttr::new(black, width, Some(Color::fast("white")), 0, 15);
        let element = Element::create(
            ShapeKind::new_circle(&state.to_string()),
            style,
            Orientation::TopToBottom,
            Point::new(48.0, 48.0),
        );
        nodes.push(graph.add_node(element));
    }
    for step in automaton.all_steps() {
        let arrow = Arrow::simple(&dot::text(subject, &step));
        graph.add_edge(arrow, nodes[step.from as usize], nodes[step.to as usize]);
    }
    let mut canvas = Canvas::new();
    graph.do_it(false, false, false, &mut canvas);
    canvas.finish()
}

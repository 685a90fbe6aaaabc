//! A kernel program beside the source lines that it was read from.
//!
//! ```text
//! line  source                                   what a work item does
//! ----  ---------------------------------------  ---------------------------------------------
//!   13  for (int i = 0; i < TS; i++) {           repeat TS
//!   14      best = min(best, input[first + i]);    global load input: int, TS between items
//!                                                  compute 1 integer
//! ```
//!
//! What has no price, such as arithmetic for addresses, is not shown. Steps stand in the order in
//! which an item takes them: a line of a loop that was unrolled, or of a function that is called
//! twice, shows more than once.

use std::fmt::Write;

use itertools::Itertools;
use tickbound_expr::Expr;
use tickbound_model::{Problem, Program, StmtKind};
use tickbound_opencl::ast::SourcePlace;
use tickbound_opencl::steps::{
    AddressSpace, Arithmetic, Dependence, KernelStep, KernelStepKind, MemoryAccess, Stride,
    SymbolExpr,
};

use super::table::Table;

/// Columns of source text that are shown.
const SOURCE_WIDTH: usize = 56;

/// The steps of an item beside the lines of `text`, the source, which is the file `name`; lines of
/// other files have the file's name instead. Lines have at most `width` columns, if that can be.
pub fn steps(steps: &[KernelStep], name: &str, text: &str, width: usize) -> String {
    let lines = text.lines().collect();
    let mut page = Page { name, lines, shown: None, table: Table::new(HEADERS) };
    page.steps(steps, 0);
    page.table.fitted(width)
}

const HEADERS: [&str; 3] = ["line", "source", "what a work item does"];

struct Page<'t> {
    name: &'t str,
    lines: Vec<&'t str>,
    /// The line that was shown last.
    shown: Option<SourcePlace>,
    table: Table,
}

impl Page<'_> {
    fn steps(&mut self, steps: &[KernelStep], depth: usize) {
        let priced = |step: &&KernelStep| {
            !matches!(step.kind, KernelStepKind::Compute { kind: Arithmetic::Index, .. })
                && !step.is_private()
        };
        for (same, step) in steps.iter().filter(priced).dedup_with_count() {
            let times = if same > 1 { format!("{same} times ") } else { String::new() };
            self.row(&step.at, depth, &format!("{times}{}", say(&step.kind)));
            match &step.kind {
                KernelStepKind::Repeat { body, .. } => self.steps(body, depth + 1),
                KernelStepKind::If { then, otherwise, .. } => {
                    self.steps(then, depth + 1);
                    if !otherwise.is_empty() {
                        self.row(&step.at, depth, "else");
                        self.steps(otherwise, depth + 1);
                    }
                }
                _ => {}
            }
        }
    }

    fn row(&mut self, at: &SourcePlace, depth: usize, says: &str) {
        let same = self.shown.as_ref().is_some_and(|s| (&s.file, s.line) == (&at.file, at.line));
        let (line, source) = match same {
            true => (String::new(), String::new()),
            false if *at.file == *self.name => (at.line.to_string(), self.source(at.line)),
            false => (at.line.to_string(), format!("({})", at.file)),
        };
        self.shown = Some(at.clone());
        // A table trims nothing, so blanks at the beginning show nesting.
        self.table.push([line, source, format!("{}{says}", "  ".repeat(depth))]);
    }

    fn source(&self, line: u32) -> String {
        let text = self.lines.get((line as usize).saturating_sub(1)).copied().unwrap_or_default();
        let text = text.replace('\t', "    ");
        match text.char_indices().nth(SOURCE_WIDTH) {
            None => text,
            Some((end, _)) => format!("{}...", text[..end].trim_end()),
        }
    }
}

fn say(kind: &KernelStepKind) -> String {
    match kind {
        KernelStepKind::Access(access) => say_access(access),
        KernelStepKind::Atomic { space, shared, .. } => {
            let on = if *shared { "one address of " } else { "" };
            format!("atomic operation on {on}{} memory", space_name(*space))
        }
        KernelStepKind::Compute { kind, amount, width } => {
            let wide = if *width > 1 { format!(", {width} wide") } else { String::new() };
            format!("compute {amount} {}{wide}", arithmetic(*kind))
        }
        KernelStepKind::Value(_) => String::new(),
        KernelStepKind::Barrier => "barrier".into(),
        KernelStepKind::Repeat { count, .. } => format!("repeat {}", number(count)),
        KernelStepKind::If { condition, depends, .. } => {
            let by = match depends {
                Dependence::Uniform => "the same for all items of a group",
                Dependence::Item => "differs between items",
                Dependence::Data => "depends on data",
            };
            format!("if {} ({by})", number(condition))
        }
    }
}

fn say_access(access: &MemoryAccess) -> String {
    let verb = if access.store { "store" } else { "load" };
    let mut text = format!("{} {verb} {}", space_name(access.space), access.array);
    let components = match access.width {
        1 => String::new(),
        width => format!("{width} x "),
    };
    let _ = write!(text, ": {components}{} bytes", access.element);
    let strides = [(Some(&access.items), "items"), (access.iterations.first(), "iterations")];
    for (stride, between) in strides {
        let Some(stride) = stride else { continue };
        let _ = match stride {
            Stride::Elements(Expr::Int(0)) => write!(text, ", the same for {between}"),
            Stride::Elements(n) => write!(text, ", {} between {between}", number(n)),
            Stride::Shifted(n) => {
                write!(text, ", {} and what data add between {between}", number(n))
            }
            Stride::Irregular => write!(text, ", irregular between {between}"),
            Stride::Data => write!(text, ", by data between {between}"),
        };
    }
    text
}

fn space_name(space: AddressSpace) -> &'static str {
    match space {
        AddressSpace::Private => "private",
        AddressSpace::Local => "local",
        AddressSpace::Global | AddressSpace::Generic => "global",
        AddressSpace::Constant => "constant",
    }
}

fn arithmetic(kind: Arithmetic) -> &'static str {
    match kind {
        Arithmetic::Index => "index",
        Arithmetic::Integer => "integer",
        Arithmetic::IntegerMultiply => "integer multiply",
        Arithmetic::IntegerDivide => "integer divide",
        Arithmetic::Real => "real",
        Arithmetic::RealMultiply => "real multiply",
        Arithmetic::RealMultiplyAdd => "real multiply-add",
        Arithmetic::RealDivide => "real divide",
        Arithmetic::DivideByRoot => "reciprocal of a root",
        Arithmetic::Special => "special function",
        Arithmetic::Convert => "conversion",
        Arithmetic::Tensor => "tensor core multiply-add",
        Arithmetic::Shuffle => "shuffle",
    }
}

/// A number with the names of steps as OpenCL C writes them.
pub fn number(number: &SymbolExpr) -> String {
    let Ok(spelled) = number.replace(&mut |name: &String| {
        let Some(own) = name.strip_prefix('$') else {
            return Ok::<_, std::convert::Infallible>(Expr::Name(name.clone()));
        };
        let of = |function: &str, d: &str| format!("{function}({d})");
        let known = [
            ("lid_", "get_local_id"),
            ("group_", "get_group_id"),
            ("local_", "get_local_size"),
            ("groups_", "get_num_groups"),
            ("global_", "get_global_size"),
        ];
        let id = known.iter().find_map(|(prefix, f)| Some(of(f, own.strip_prefix(prefix)?)));
        Ok(Expr::Name(match own.strip_prefix("line_") {
            Some(line) => format!("bound of line {line}"),
            None if own.starts_with("bound_") => "the given bound".to_owned(),
            None => id.unwrap_or_else(|| own.to_owned()),
        }))
    });
    spelled.to_string()
}

/// A kernel program that was written by hand.
pub fn program(problem: &Problem, program: &Program) -> String {
    let mut text = String::new();
    write_program(&mut text, problem, program, 0);
    text
}

fn write_program(text: &mut String, problem: &Problem, program: &Program, depth: usize) {
    let show = |expr: &Expr| problem.scope.show(expr);
    for stmt in program {
        let says = match &stmt.kind {
            StmtKind::Access { amount, .. } => format!("{} {}", stmt.kind.name(), show(amount)),
            StmtKind::Until(ticks) => format!("until mark + {}", show(ticks)),
            StmtKind::Repeat { count, .. } => format!("repeat {}", show(count)),
            StmtKind::If { condition, .. } => format!("if {}", show(condition)),
            StmtKind::Mark | StmtKind::Barrier => stmt.kind.name().to_owned(),
        };
        let indent = "  ".repeat(depth);
        let label = if stmt.label == stmt.kind.name() { "" } else { stmt.label.as_str() };
        let says = format!("{indent}{says}");
        let _ = writeln!(text, "{}", format!("{says:<48}  {label}").trim_end());
        match &stmt.kind {
            StmtKind::Repeat { body, .. } => write_program(text, problem, body, depth + 1),
            StmtKind::If { then, otherwise, .. } => {
                write_program(text, problem, then, depth + 1);
                if !otherwise.is_empty() {
                    let _ = writeln!(text, "{indent}else");
                    write_program(text, problem, otherwise, depth + 1);
                }
            }
            _ => {}
        }
    }
}

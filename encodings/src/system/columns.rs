//! What depends on the parameters alone, tabulated: a value for each configuration.

use std::rc::Rc;

use super::evaluate::{Algebra, SystemValue, SystemValues, node};
use super::{ChoiceId, Ex, InternalError, System, TableId};

/// A value for each configuration: `None` where one is never read.
type Column<T> = Vec<Option<T>>;

/// Integers for each configuration; `None` as a whole if one, or a part of one, is too large.
type Integers = Option<Rc<Column<i128>>>;

type Truths = Option<Rc<Column<bool>>>;

/// The columns of a system's nodes.
pub struct Columns(SystemValues<Integers, Truths>);

impl Columns {
    /// Tabulates `nodes`, which depend on the parameters alone, operands first.
    ///
    /// # Errors
    /// The system is not one, or a node depends on more.
    pub fn new(system: &System, nodes: &[Ex]) -> Result<Columns, InternalError> {
        let mut values = SystemValues::none(system);
        let mut by_configuration = ByConfiguration { system };
        for e in nodes {
            let value = node(system.node(*e), &[], &mut by_configuration, &values)?;
            values.set(*e, value);
        }
        Ok(Columns(values))
    }

    /// The values of a node as 64-bit integers, truth as 0 and 1; `None` if missing or larger.
    pub fn values(&self, e: Ex) -> Option<Vec<Option<i64>>> {
        if !self.0.has(e) {
            return None;
        }
        match self.0.get(e).ok()? {
            SystemValue::Int(column) => column
                .as_ref()?
                .iter()
                .map(|v| v.map(|v| i64::try_from(v).ok()).map_or(Some(None), |v| v.map(Some)))
                .collect(),
            SystemValue::Bool(column) => {
                Some(column.as_ref()?.iter().map(|v| v.map(i64::from)).collect())
            }
        }
    }
}

/// Arithmetic on columns.
struct ByConfiguration<'s> {
    system: &'s System,
}

impl ByConfiguration<'_> {
    fn constant<T: Copy>(&self, value: Option<T>) -> Option<Rc<Column<T>>> {
        Some(Rc::new(vec![value; self.system.configurations.len()]))
    }
}

/// Row by row; a row is unknown where an operand is.
fn zip<T: Copy, R>(
    a: &Option<Rc<Column<T>>>,
    b: &Option<Rc<Column<T>>>,
    op: impl Fn(T, T) -> R,
) -> Option<Rc<Column<R>>> {
    let rows = a.as_ref()?.iter().zip(b.as_ref()?.iter());
    Some(Rc::new(rows.map(|(a, b)| a.zip(*b).map(|(a, b)| op(a, b))).collect()))
}

/// As [`zip`], for what may leave 128 bits.
fn checked(a: &Integers, b: &Integers, op: fn(i128, i128) -> Option<i128>) -> Integers {
    let rows = a.as_ref()?.iter().zip(b.as_ref()?.iter());
    let column = rows.map(|(a, b)| match a.zip(*b) {
        Some((a, b)) => op(a, b).map(Some),
        None => Some(None),
    });
    Some(Rc::new(column.collect::<Option<_>>()?))
}

fn choose<T: Copy>(
    c: &Truths,
    a: &Option<Rc<Column<T>>>,
    b: &Option<Rc<Column<T>>>,
) -> Option<Rc<Column<T>>> {
    let branches = a.as_ref()?.iter().zip(b.as_ref()?.iter());
    let rows = c.as_ref()?.iter().zip(branches);
    Some(Rc::new(rows.map(|(c, (a, b))| if (*c)? { *a } else { *b }).collect()))
}

impl Algebra for ByConfiguration<'_> {
    type Int = Integers;
    type Bool = Truths;
    type Error = InternalError;

    fn int(&mut self, value: i64) -> Integers {
        self.constant(Some(i128::from(value)))
    }

    fn bool(&mut self, value: bool) -> Truths {
        self.constant(Some(value))
    }

    fn unread(&mut self) -> Integers {
        self.constant(None)
    }

    fn table(&mut self, table: TableId) -> Result<Integers, InternalError> {
        let table = &self.system.tables[table.index()];
        let value = |c: &Vec<u32>| table.value(c).map(i128::from);
        Ok(Some(Rc::new(self.system.configurations.iter().map(value).collect())))
    }

    fn choice(&mut self, _: ChoiceId) -> Result<Truths, InternalError> {
        Err(InternalError("a choice depends on no parameter".into()))
    }

    fn add(&mut self, a: &Integers, b: &Integers) -> Result<Integers, InternalError> {
        Ok(checked(a, b, i128::checked_add))
    }

    fn mul(&mut self, a: &Integers, b: &Integers) -> Result<Integers, InternalError> {
        Ok(checked(a, b, i128::checked_mul))
    }

    fn max(&mut self, a: &Integers, b: &Integers) -> Integers {
        zip(a, b, i128::max)
    }

    fn equal(&mut self, a: &Integers, b: &Integers) -> Truths {
        zip(a, b, |a, b| a == b)
    }

    fn at_most(&mut self, a: &Integers, b: &Integers) -> Truths {
        zip(a, b, |a, b| a <= b)
    }

    fn not(&mut self, a: &Truths) -> Truths {
        Some(Rc::new(a.as_ref()?.iter().map(|a| a.map(|a| !a)).collect()))
    }

    fn junction(
        &mut self,
        items: impl Iterator<Item = Result<Truths, InternalError>>,
        conjunction: bool,
    ) -> Result<Truths, InternalError> {
        // A row is `decisive` if one operand is, and unknown if else one is unknown.
        let decisive = !conjunction;
        let items = items.collect::<Result<Vec<_>, InternalError>>()?;
        let columns: Option<Vec<_>> = items.into_iter().collect();
        let Some(columns) = columns else { return Ok(None) };
        let width = columns.first().map_or(0, |c| c.len());
        let row = |r: usize| {
            let mut rows = columns.iter().map(|c| c[r]);
            if rows.clone().any(|v| v == Some(decisive)) {
                return Some(decisive);
            }
            rows.all(|v| v.is_some()).then_some(!decisive)
        };
        Ok(Some(Rc::new((0..width).map(row).collect())))
    }

    fn ite_int(&mut self, c: &Truths, a: &Integers, b: &Integers) -> Integers {
        choose(c, a, b)
    }

    fn ite_bool(&mut self, c: &Truths, a: &Truths, b: &Truths) -> Truths {
        choose(c, a, b)
    }
}

//! How far an elimination may go.

/// How far an elimination may go.
#[derive(Clone, Copy)]
pub struct TableLimits<'a> {
    /// Most rows of one join.
    pub rows: usize,
    /// A join that is larger is divided, so that costs become lower bounds; otherwise it is an
    /// error.
    pub divide: bool,
    /// Asked now and then whether to stop.
    pub stop: &'a dyn Fn() -> bool,
}

impl Default for TableLimits<'_> {
    /// 2^22 rows: some hundred megabytes.
    fn default() -> Self {
        TableLimits { rows: 1 << 22, divide: false, stop: &|| false }
    }
}

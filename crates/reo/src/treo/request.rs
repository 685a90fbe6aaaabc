//! What is wanted of a file.

/// What is wanted of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TreoRequest {
    /// The component; without one, `main`, that which is called as the file, or the last.
    pub component: Option<String>,
    /// Values of its parameters, and of words in the sizes of its interface: as an argument is
    /// written (`4`, `"text"`, `<sync, fifo<2>>`); a word that means nothing is a text.
    pub settings: Vec<(String, String)>,
}

impl TreoRequest {
    /// With one more setting.
    #[must_use]
    pub fn set(mut self, word: &str, value: &str) -> TreoRequest {
        self.settings.push((word.into(), value.into()));
        self
    }

    /// For another component of the file.
    #[must_use]
    pub fn of(self, component: &str) -> TreoRequest {
        TreoRequest { component: Some(component.into()), ..self }
    }
}

//! Names in the published schema.

use schemars::{Schema, SchemaGenerator};
use tickbound_input::named::Named;
use tickbound_model::verdict::Status;

/// The names of a short list.
pub(crate) fn named<T: Named>(_: &mut SchemaGenerator) -> Schema {
    let names: Vec<&str> = T::VALUES.iter().map(|value| value.name()).collect();
    schemars::json_schema!({ "enum": names })
}

/// The names of [`Status`].
pub(crate) fn status(_: &mut SchemaGenerator) -> Schema {
    schemars::json_schema!({ "enum": [Status::Optimal, Status::Bounded, Status::Infeasible] })
}

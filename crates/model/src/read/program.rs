//! Reading of a kernel program from JSON, statement by statement.

use serde_json::Value;
use tickbound_input::message::suggest;

use crate::error::ModelError;
use crate::json::{Field, Object};
use crate::kernel::{Program, Stmt, StmtKind};
use crate::platform::AccessKind;
use crate::scope::Scope;

const STATEMENTS: [&str; 14] = [
    "barrier",
    "mark",
    "until",
    "work",
    "global",
    "local",
    "constant",
    "compute",
    "atomic",
    "local_atomic",
    "shared_atomic",
    "shared_local_atomic",
    "repeat",
    "if",
];

pub(super) fn read_program(field: &Field<'_>, scope: &Scope) -> Result<Program, ModelError> {
    field.array()?.iter().map(|f| read_statement(f, scope)).collect()
}

fn read_statement(field: &Field<'_>, scope: &Scope) -> Result<Stmt, ModelError> {
    let at = field.path.clone();
    let unknown = |name: &str| {
        ModelError::new(&at, format!("unknown statement `{name}`"), suggest(name, STATEMENTS))
    };
    if let Value::String(word) = field.value {
        let kind = match word.as_str() {
            "barrier" => StmtKind::Barrier,
            "mark" => StmtKind::Mark,
            other => return Err(unknown(other)),
        };
        return Ok(Stmt { label: word.clone(), at, kind });
    }
    let mut object = field
        .clone()
        .object()
        .map_err(|_| field.expected("a statement: \"barrier\", \"mark\" or { \"work\": ... }"))?;
    let label = object.take("name").map(|f| f.label()).transpose()?;
    let Some(keyword) = STATEMENTS.into_iter().find(|k| field.value.get(k).is_some()) else {
        let key = field.value.as_object().and_then(|m| m.keys().find(|k| *k != "name"));
        return Err(key.map_or_else(|| field.expected("a statement"), |k| unknown(k)));
    };
    let main = object.need(keyword, "it")?;
    let kind = read_kind(keyword, &main, &mut object, scope)?;
    object.finish()?;
    Ok(Stmt { label: label.unwrap_or_else(|| keyword.to_owned()), at, kind })
}

fn read_kind(
    keyword: &str,
    main: &Field<'_>,
    object: &mut Object<'_>,
    scope: &Scope,
) -> Result<StmtKind, ModelError> {
    let expr = |f: &Field<'_>| scope.expression(&f.path, &f.expression()?);
    let access = |access| Ok(StmtKind::Access { access, amount: expr(main)? });
    match keyword {
        "work" => access(AccessKind::Work),
        "global" => access(AccessKind::Global),
        "local" => access(AccessKind::Local),
        "constant" => access(AccessKind::Constant),
        "compute" => access(AccessKind::Compute),
        "atomic" => access(AccessKind::Atomic),
        "local_atomic" => access(AccessKind::LocalAtomic),
        "shared_atomic" => access(AccessKind::SharedAtomic),
        "shared_local_atomic" => access(AccessKind::SharedLocalAtomic),
        "until" => Ok(StmtKind::Until(expr(main)?)),
        "repeat" => Ok(StmtKind::Repeat {
            count: expr(main)?,
            body: read_program(&object.need("body", "the statements to repeat")?, scope)?,
        }),
        "if" => Ok(StmtKind::If {
            condition: expr(main)?,
            then: read_program(&object.need("then", "the statements to take")?, scope)?,
            otherwise: object.take("else").map_or(Ok(Vec::new()), |f| read_program(&f, scope))?,
        }),
        // `{ "barrier": true, "name": "..." }` gives a barrier or a mark a name.
        "barrier" | "mark" if main.value == &Value::Bool(true) => {
            Ok(if keyword == "barrier" { StmtKind::Barrier } else { StmtKind::Mark })
        }
        _ => Err(main.expected("true")),
    }
}

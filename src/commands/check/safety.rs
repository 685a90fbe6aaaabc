//! Certificates of `verify`.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use tickbound_certificate::Refusal;
use tickbound_certificate::tools::{ToolReport, ask_questions};
use tickbound_report::answer::Checked;
use tickbound_safety::certificate::check::check;

use super::args::{CheckArgs, with_tools};
use crate::commands::stop;

/// Checks the certificate in a folder, and that it is about the given problem.
pub fn checked(
    args: &CheckArgs,
    tool_time: Duration,
    asked: Option<&Value>,
    answer: &mut Checked,
) -> Result<(), Refusal> {
    let found = check(Path::new(&args.folder), &stop::is_due);
    let found = found.map_err(|why| match stop::is_due() {
        true => Refusal::Stopped,
        false => Refusal::Wrong(why),
    })?;
    if let Some(asked) = asked {
        // The program of the kernel is not part of it.
        let without = |value: &Value| {
            let mut value = value.clone();
            let fields = value.as_object_mut();
            fields.map(|fields| ["kernel", "usage"].map(|name| fields.remove(name)));
            value
        };
        if without(asked) != without(&found.problem) {
            let why = "safety.json: is about another problem than --problem";
            return Err(Refusal::Wrong(why.to_owned()));
        }
        answer.checked.push("the problem is the one of --problem".to_owned());
    }
    answer.checked.extend(found.checked);
    answer.not_checked.extend(found.not_checked);
    answer.trusted = found.trusted;
    with_tools(args, tool_time, &mut |tools| match tools {
        None => {
            answer.not_checked.push("the questions: no solver was asked".to_owned());
            Ok(())
        }
        Some(tools) => ask_questions(&found.questions, tools, &mut |report| match report {
            ToolReport::Checked(what) => answer.checked.push(what),
            ToolReport::NotChecked(what) => answer.not_checked.push(what),
        }),
    })
}

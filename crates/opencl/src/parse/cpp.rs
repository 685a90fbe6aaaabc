//! A source in CUDA or HIP: the text that libclang gets, and which of its errors matter.

use std::collections::HashMap;

use clang::diagnostic::{Diagnostic, Severity};
use clang::{Entity, EntityKind, Index, TranslationUnit, Unsaved};
use tickbound_model::source::Standard;

use super::cuda::{CudaTree, argument_texts, kernels, qualified, template_parameters, uses};
use super::spelling::{gives_up, rejected};
use super::state::Tree;
use super::text::Text;
use crate::ast::Unit;
use crate::cuda::{SHIM, shim, template_arguments};
use crate::error::{Read, ReadError};
use crate::libclang;
use crate::lines::is_word;
use crate::preprocess::Expanded;
use crate::reading::SourceLaunch;
use crate::request::ReadRequest;

/// The name under which libclang gets the text.
const FILE: &str = "kernel.cu";
/// The variable that makes an instance of the kernel.
const ENTRY: &str = "tickbound_entry";

/// How libclang is called. It knows no CUDA here but the declarations of ours.
const ARGUMENTS: [&str; 16] = [
    "-x",
    "cuda",
    "--cuda-device-only",
    "-nocudainc",
    "-nocudalib",
    // Later ones are unknown to clang 15.
    "--cuda-gpu-arch=sm_80",
    "-std=c++17",
    "-nostdinc",
    "-nostdinc++",
    "-w",
    // An error unless it is switched off by name.
    "-Wno-register",
    "-ferror-limit=0",
    "-DTB_NO_STD",
    "-DTB_DEVICE",
    "-include",
    SHIM,
];

/// What a source in CUDA has beside its kernel.
#[derive(Debug, Default)]
pub(crate) struct HostPart {
    /// Parameters of the templates of kernels, and whether each is a type.
    pub(crate) templates: HashMap<String, Vec<(String, bool)>>,
    /// Launches of kernels.
    pub(crate) launches: Vec<SourceLaunch>,
}

/// Makes the tree of an expanded source in CUDA; if `asked`, also what it has beside the kernel.
pub(super) fn parse(
    request: &ReadRequest,
    expanded: &Expanded,
    asked: bool,
) -> Read<(Unit, HostPart)> {
    libclang::lend(|clang, _| {
        let index = Index::new(clang, false, false);
        let mut text = expanded.text.clone();
        text += &explicit_instances(&text);
        let mut unit = run(&index, request, &text)?;
        let line = instance(&unit.get_entity(), request, expanded);
        if let Some(line) = &line {
            text += line;
            unit = run(&index, request, &text)?;
        }
        read(request, expanded, &unit, (&text, line.as_deref(), asked))
    })
}

fn run<'i>(index: &'i Index<'i>, request: &ReadRequest, text: &str) -> Read<TranslationUnit<'i>> {
    let declarations = shim(request.standard);
    let hip = (request.standard == Standard::Hip).then_some("-DTB_HIP");
    let arguments: Vec<&str> = ARGUMENTS.into_iter().chain(hip).collect();
    let unsaved = [Unsaved::new(FILE, text), Unsaved::new(SHIM, &declarations)];
    let mut parser = index.parser(FILE);
    let parsed = parser.arguments(&arguments).unsaved(&unsaved).parse();
    parsed.map_err(|error| gives_up(request, error))
}

/// The kernel of a unit, of whose template `line` makes an instance.
fn read(
    request: &ReadRequest,
    expanded: &Expanded,
    unit: &TranslationUnit<'_>,
    (text, line, asked): (&str, Option<&str>, bool),
) -> Read<(Unit, HostPart)> {
    let (root, open) = (unit.get_entity(), expanded.open.as_slice());
    let cuda = CudaTree::new(request);
    let mut tree = Tree { text: Text(text), open, cuda, ..Tree::default() };
    let all = kernels(&root);
    let own = all.iter().find(|k| k.entity.get_name().as_ref() == Some(&request.entry));
    let mut used = Vec::new();
    if let Some(template) = own.filter(|own| own.template) {
        uses(&root, &template.entity, &mut used);
    }
    let entry = |(usage, _): &&(Entity<'_>, Entity<'_>)| {
        let before = &text[..tree.text.span(usage).start];
        before.rfind(ENTRY).is_some_and(|at| !before[at..].contains(';'))
    };
    let made = used.iter().find(entry);
    if let (Some(line), None) = (line, made) {
        return Err(no_instance(request, line, &unit.get_diagnostics()));
    }
    let chosen = made.or_else(|| used.first()).copied();
    let tree_of_kernel = tree.cuda_unit(&all, &request.entry, chosen)?;
    check(request, &unit.get_diagnostics(), &tree, own.is_some())?;
    let mut host = HostPart::default();
    for kernel in all.iter().filter(|kernel| kernel.template && asked) {
        let parameters = template_parameters(&kernel.entity).into_iter().map(|parameter| {
            let is_type = parameter.get_kind() != EntityKind::NonTypeTemplateParameter;
            (parameter.get_name().unwrap_or_default(), is_type)
        });
        let name = kernel.entity.get_name().unwrap_or_default();
        host.templates.insert(name, parameters.collect());
    }
    if asked {
        host.launches = tree.launches(&root);
    }
    Ok((tree_of_kernel, host))
}

/// A line with an instance of the kernel's template; what is not given is as in its first use.
fn instance(root: &Entity<'_>, request: &ReadRequest, expanded: &Expanded) -> Option<String> {
    let known = template_arguments(&expanded.text);
    let all = kernels(root);
    let own = all.iter().find(|k| k.entity.get_name().as_ref() == Some(&request.entry))?;
    if !own.template || known.is_empty() {
        return None;
    }
    let mut used = Vec::new();
    uses(root, &own.entity, &mut used);
    let others = used.first().map(|(_, instance)| argument_texts(instance)).unwrap_or_default();
    let each = template_parameters(&own.entity).into_iter().enumerate().map(|(i, parameter)| {
        let given = parameter.get_name().and_then(|name| known.get(&name));
        let text = given.or(others.get(i)).filter(|text| !text.is_empty())?;
        match parameter.get_kind() {
            EntityKind::NonTypeTemplateParameter => {
                Some(format!("({})({text})", parameter.get_type()?.get_display_name()))
            }
            _ => Some(text.clone()),
        }
    });
    // Defaults are at the end.
    let each: Vec<String> = each.map_while(|text| text).collect();
    let name = qualified(&own.entity);
    Some(format!("\nstatic auto *{ENTRY} = &{name}<{}>;\n", each.join(", ")))
}

/// The error where the kernel's template has no such instance.
fn no_instance(request: &ReadRequest, line: &str, diagnostics: &[Diagnostic<'_>]) -> ReadError {
    let instance = line.split_once('&').map_or(line, |(_, rest)| rest).trim().trim_end_matches(';');
    let last = diagnostics.iter().rfind(|d| d.get_severity() >= Severity::Error);
    let why = last.map(|d| d.get_text()).filter(|text| !text.contains(ENTRY));
    let why = why.unwrap_or_else(|| "its arguments do not fit".to_owned());
    ReadError::file(
        &request.name,
        format!("there is no instance {instance}: {why}"),
        "give all parameters of the template with --template NAME=TEXT or kernel.defines",
    )
}

/// Uses of what `template void launch<16, float>(int);` makes, which libclang does not show.
fn explicit_instances(text: &str) -> String {
    let mut found = String::new();
    for (at, _) in text.match_indices("template") {
        let rest = text[at + "template".len()..].trim_start();
        let Some(end) = rest.find([';', '{']) else { continue };
        let head = &rest[..end];
        if text[..at].ends_with(is_word) || head.starts_with('<') || !rest[end..].starts_with(';') {
            continue;
        }
        let Some((before, arguments)) = head.split_once('<') else { continue };
        let name = before.rsplit(|c| !is_word(c) && c != ':').next().unwrap_or_default();
        let Some(close) = arguments.find(">(").or_else(|| arguments.find("> (")) else { continue };
        let arguments = &arguments[..close];
        let number = found.lines().count();
        let used = format!("static auto *tickbound_use_{number} = &{name}<{arguments}>;");
        found += &format!("\n{}", used.replace('\n', " "));
    }
    found
}

/// The first error inside of what has been read. Others are the host's.
fn check(
    request: &ReadRequest,
    diagnostics: &[Diagnostic<'_>],
    tree: &Tree<'_, '_>,
    found: bool,
) -> Read<()> {
    let inside = |d: &&Diagnostic<'_>| {
        let at = d.get_location().get_spelling_location();
        let own = at.file.is_some_and(|file| file.get_path().as_os_str() == FILE);
        d.get_severity() >= Severity::Error
            && (!found && !request.entry.is_empty() || own && tree.has_read(at.offset as usize))
    };
    rejected(&diagnostics.iter().filter(inside).collect::<Vec<_>>())
}

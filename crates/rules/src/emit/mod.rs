//! A configuration or a rule as code: compiler options, a C header, JSON, Rust, Python or CMake.
//!
//! The text depends on what is emitted alone, so that a file can be compared with what would be
//! written now. Emitted expressions are in 64-bit integers; at the sizes for which a rule is proved
//! none of them overflows, since all of them were evaluated there with checks.

mod language;
mod tree;

use std::path::Path;

use minijinja::{Environment, context};
use serde_json::{Value, json};
use tickbound_input::named::Named;

use crate::closed_form::ClosedForm;
use crate::sizes::RuleSizes;
use crate::tree::DecisionTree;
use language::{Language, written};

tickbound_input::named! {
    /// A format, by the ending of its files.
    pub enum Format {
        /// Options of an OpenCL compiler, a line for each variant; lines with # are comments.
        Flags = "flags",
        /// A header in C99 or C++.
        C = "h",
        /// JSON, which `measure --rule` reads.
        Json = "json",
        /// A module in Rust.
        Rust = "rs",
        /// A module in Python 3.
        Python = "py",
        /// Variables of CMake.
        CMake = "cmake",
    }
}

impl Format {
    /// The format of a file.
    ///
    /// # Errors
    /// The ending belongs to none.
    pub fn by_path(path: &Path) -> Result<Format, String> {
        let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        Format::find(ending).ok_or_else(|| {
            let all: Vec<String> =
                Format::VALUES.iter().map(|f| format!(".{}", f.name())).collect();
            format!("--emit {}: end the name with one of {}", path.display(), all.join(", "))
        })
    }
}

/// One configuration of what is emitted.
#[derive(Debug, Clone, PartialEq)]
pub struct EmittedVariant {
    /// The values of the parameters.
    pub values: Vec<i64>,
    /// Its time over the sizes, in a rule.
    pub form: Option<ClosedForm>,
}

/// The sizes of a rule that is emitted.
#[derive(Debug, Clone, PartialEq)]
pub struct EmittedSizes {
    /// The platforms, if there are several: the first argument is the place of one.
    pub devices: Vec<String>,
    /// The arguments of the functions.
    pub arguments: Vec<String>,
    /// Their ranges as (first, last, step).
    pub ranges: Vec<Vec<(i64, i64, i64)>>,
    /// As the option `--over` takes them.
    pub text: String,
}

impl EmittedSizes {
    /// The sizes of a rule.
    pub fn for_rule(sizes: &RuleSizes) -> EmittedSizes {
        let devices = sizes.platforms().to_vec();
        let places = (0, devices.len() as i64 - 1, 1);
        let ranges = sizes.ranges().map(<[_]>::to_vec);
        EmittedSizes {
            arguments: sizes.tree_arguments().into_iter().map(str::to_owned).collect(),
            ranges: (!devices.is_empty()).then(|| vec![places]).into_iter().chain(ranges).collect(),
            text: sizes.to_string(),
            devices,
        }
    }
}

/// What is emitted.
#[derive(Debug, Clone, PartialEq)]
pub struct Emitted {
    /// What names in the code begin with.
    pub name: String,
    /// What the file states about itself; the command that writes it is one of the lines.
    pub about: Vec<String>,
    /// The parameters.
    pub parameters: Vec<String>,
    /// The configurations; one, unless this is a rule.
    pub variants: Vec<EmittedVariant>,
    /// The sizes of a rule.
    pub sizes: Option<EmittedSizes>,
    /// What picks a variant in a rule, where its variants have no closed forms.
    pub tree: Option<DecisionTree>,
}

const TEMPLATES: [(Format, &str); 4] = [
    (Format::C, include_str!("templates/c.j2")),
    (Format::Rust, include_str!("templates/rust.j2")),
    (Format::Python, include_str!("templates/python.j2")),
    (Format::CMake, include_str!("templates/cmake.j2")),
];

impl Emitted {
    /// The text of a file.
    ///
    /// # Errors
    /// An expression that the language has no form for.
    pub fn text(&self, format: Format) -> Result<String, String> {
        match format {
            Format::Flags => Ok(self.flags()),
            Format::Json => Ok(format!("{:#}\n", self.json())),
            Format::C => self.code(format, Language::C),
            Format::Rust => self.code(format, Language::Rust),
            Format::Python | Format::CMake => self.code(format, Language::Python),
        }
    }

    fn options(&self, variant: &EmittedVariant) -> String {
        let pairs = self.parameters.iter().zip(&variant.values);
        pairs.map(|(name, value)| format!("-D{name}={value}")).collect::<Vec<_>>().join(" ")
    }

    fn flags(&self) -> String {
        let about = self.about.iter().map(|line| format!("# {line}\n"));
        let variants = self.variants.iter().map(|v| self.options(v) + "\n");
        about.chain(variants).collect()
    }

    fn json(&self) -> Value {
        let configuration = |variant: &EmittedVariant| {
            let pairs = self.parameters.iter().cloned();
            Value::Object(pairs.zip(variant.values.iter().map(|v| json!(v))).collect())
        };
        let variant = |variant: &EmittedVariant| {
            let mut object = json!({ "configuration": configuration(variant) });
            if let Some(form) = &variant.form {
                let texts = |all: &[crate::SizeExpr]| -> Vec<String> {
                    all.iter().map(ToString::to_string).collect()
                };
                let steps = form.steps.iter().map(|(name, e)| json!([name, e.to_string()]));
                object["conditions"] = json!(texts(&form.conditions));
                object["steps"] = steps.collect();
                object["ticks"] = json!(form.ticks.to_string());
            }
            object
        };
        let variants: Vec<Value> = self.variants.iter().map(variant).collect();
        let mut object = json!({ "about": self.about, "variants": variants });
        if let Some(sizes) = &self.sizes {
            object["over"] = json!(sizes.text);
            if let Some(tree) = &self.tree {
                object["tree"] = tree::json(tree, &sizes.arguments);
            }
        }
        object
    }

    fn code(&self, format: Format, language: Language) -> Result<String, String> {
        let variants = self.variants.iter().map(|variant| {
            let form = variant.form.as_ref().map(|form| {
                let all = |list: &[crate::SizeExpr]| {
                    list.iter().map(|e| written(e, language)).collect::<Result<Vec<_>, _>>()
                };
                let steps = form.steps.iter().map(|(name, e)| Ok((name, written(e, language)?)));
                let steps = steps.collect::<Result<Vec<_>, String>>()?;
                let conditions = all(&form.conditions)?;
                let ticks = written(&form.ticks, language)?;
                Ok::<_, String>(context! { conditions, steps, ticks })
            });
            let options = self.options(variant);
            let form = form.transpose()?;
            Ok(context! { values => variant.values, options, form })
        });
        let variants = variants.collect::<Result<Vec<_>, String>>()?;
        let sizes = self.sizes.as_ref().map(|sizes| {
            let ranges: Vec<_> = sizes.arguments.iter().zip(&sizes.ranges).collect();
            let tree = self.tree.as_ref().map(|t| tree::written(t, &sizes.arguments, language));
            context! { arguments => sizes.arguments, ranges, tree, devices => sizes.devices }
        });
        let mut environment = Environment::new();
        environment.set_trim_blocks(true);
        environment.set_lstrip_blocks(true);
        environment.set_keep_trailing_newline(true);
        // The templates are part of the program; a test fills each of them.
        let fault = |e: minijinja::Error| format!("a template of tickbound is at fault: {e:#}");
        for (format, source) in TEMPLATES {
            environment.add_template(format.name(), source).map_err(fault)?;
        }
        let template = environment.get_template(format.name()).map_err(fault)?;
        let about = &self.about;
        let (name, upper) = (&self.name, self.name.to_uppercase());
        let (parameters, count) = (&self.parameters, self.variants.len());
        let filled = context! { name, upper, about, parameters, variants, count, sizes };
        template.render(filled).map_err(fault)
    }
}

/// A name in code: letters, digits and underscores of a text, in lower case.
pub fn identifier(text: &str) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    let name: String = text.chars().map(kept).collect();
    match name.chars().next() {
        Some(first) if !first.is_ascii_digit() => name,
        _ => format!("rule_{name}"),
    }
}

//! Reading of a problem from JSON, with the checks that need no configuration.
//!
//! The format is described in `docs/problem-format.md` and `docs/reference/problem.schema.json`.
//! [`Problem::from_json`] checks everything that can be checked without choosing a configuration:
//! shapes, names, the order of definitions, profile and launch fitting each other. What depends on
//! the configuration is checked when one is bound (see [`super::space`]).

mod program;
mod source;

use indexmap::IndexMap;
use serde_json::Value;
use tickbound_input::message::suggest;

use self::program::read_program;
use super::error::ModelError;
use super::json::{Field, Object, join};
use super::kernel::{Program, has_barrier};
use super::launch_rule::GroupNeeds;
use super::platform::Platform;
use super::problem::{
    Dimension, FORMAT_VERSION, Launch, NamedSize, Parameter, PlatformLookup, Problem, Profile,
    SpaceConstraint, parse_json,
};
use super::resources::Part;
use super::scope::{ITEM_NAMES, NameKind, Scope};
use super::source::KernelSource;
use super::usage::Usage;
use tickbound_expr::domain::Domain;
use tickbound_expr::parse::parse_domain;
use tickbound_expr::{BinaryOp, Expr};

impl Problem {
    /// Reads a problem from JSON text. `inputs` override inputs and platform numbers of the file;
    /// `platforms` finds a platform that is given by name.
    ///
    /// # Errors
    /// What is wrong, where, and how to fix it.
    pub fn from_json(
        text: &str,
        inputs: &IndexMap<String, i64>,
        platforms: PlatformLookup<'_>,
    ) -> Result<Problem, ModelError> {
        Problem::from_value(&parse_json(text)?, inputs, platforms)
    }

    /// As [`Problem::from_json`], from parsed JSON.
    pub fn from_value(
        value: &Value,
        overrides: &IndexMap<String, i64>,
        platforms: PlatformLookup<'_>,
    ) -> Result<Problem, ModelError> {
        let mut problem = Problem::as_written(value, overrides, platforms)?;
        if let Some(whole) = problem.with_whole_usage() {
            problem = whole;
            problem.find_limits()?;
        }
        Ok(problem)
    }

    /// As [`Problem::from_value`], with parts of a long usage in definitions if the file has it so.
    pub fn as_written(
        value: &Value,
        overrides: &IndexMap<String, i64>,
        platforms: PlatformLookup<'_>,
    ) -> Result<Problem, ModelError> {
        let mut root = Field::new("", value).object()?;
        let setting = Setting::read(&mut root, overrides, platforms)?;
        let Setting { name, profile, platform, kernel, without, inputs } = setting;

        let mut scope = given(&inputs, &platform)?;
        let parameters = read_parameters(root.take("parameters"), &mut scope)?;
        let definitions = read_definitions(root.take("definitions"), &mut scope)?;
        let constraints = read_constraints(root.take("constraints"), &scope)?;
        let (launch, grid) =
            read_launch(&root.need("launch", "how the kernel is launched")?, profile, &scope)?;
        let (usage, stated_usage) = Usage::read(root.take("usage"), &scope)?;
        let sizes = read_sizes(root.take("sizes"), root.take("weights"), &inputs)?;
        let (source, kernel) = read_kernel(&kernel, &mut scope, &parameters)?;
        let finish = root.take("finish").map_or(Ok(Vec::new()), |f| read_program(&f, &scope))?;
        root.finish()?;
        let mut problem = Problem {
            name: name.unwrap_or_else(|| "unnamed".into()),
            profile,
            platform,
            scope,
            inputs,
            parameters,
            constraints,
            definitions,
            launch,
            grid,
            sizes,
            source,
            kernel,
            finish,
            without,
            usage,
            group_needs: GroupNeeds::default(),
            launch_rules: Vec::new(),
            stated_usage,
            usage_lines: Vec::new(),
        };
        problem.check_profile()?;
        problem.find_limits()?;
        Ok(problem)
    }

    fn check_profile(&self) -> Result<(), ModelError> {
        if has_barrier(&self.finish) {
            return Err(ModelError::new(
                "finish",
                "a barrier, but only element 0 runs this program",
                "remove it",
            ));
        }
        if self.profile == Profile::Published2021 && self.platform.warps().is_none() {
            return Err(ModelError::new(
                "platform.warps",
                "is missing, but the profile published-2021 runs warps",
                "add \"warps\": { \"width\": ..., \"dispatchers\": ... }",
            ));
        }
        if self.profile == Profile::Resources {
            self.check_resources()?;
        }
        Ok(())
    }

    fn check_resources(&self) -> Result<(), ModelError> {
        if self.platform.resources().warp_width.is_none() {
            return Err(ModelError::new(
                "platform.resources.warp_width",
                "is missing, but the profile resources counts warps",
                "add it, or take a platform that has resources",
            ));
        }
        Ok(())
    }
}

/// The fields of a problem file that are read before any expression.
struct Setting<'v> {
    name: Option<String>,
    profile: Profile,
    platform: Platform,
    kernel: Field<'v>,
    without: Vec<Part>,
    inputs: IndexMap<String, i64>,
}

impl<'v> Setting<'v> {
    fn read(
        root: &mut Object<'v>,
        overrides: &IndexMap<String, i64>,
        platforms: PlatformLookup<'_>,
    ) -> Result<Setting<'v>, ModelError> {
        root.take("$schema");
        root.take("notes");
        if let Some(version) = root.take("version")
            && version.integer()? != FORMAT_VERSION
        {
            return Err(version.expected(&format!("{FORMAT_VERSION}, the only version so far")));
        }
        let name = root.take("name").map(|f| f.label()).transpose()?;
        let profile = root.take("profile").map(|f| read_profile(&f)).transpose()?;
        let mut platform = read_platform(&root.need("platform", "the platform")?, platforms)?;
        let kernel = root.need("kernel", "the kernel program")?;
        let profile = profile.unwrap_or_else(|| default_profile(&platform, &kernel));
        let without = read_without(root.take("without"), profile)?;
        let inputs = read_inputs(root.take("inputs"), overrides, &mut platform)?;
        if profile == Profile::Resources {
            platform.count_in_clocks();
        }
        Ok(Setting { name, profile, platform, kernel, without, inputs })
    }
}

/// The profile of a file that names none: `resources` for OpenCL C on a platform that has
/// what this profile needs, because it ranks measured configurations better
/// (docs/results/predictions.md); otherwise `opencl`.
fn default_profile(platform: &Platform, kernel: &Field<'_>) -> Profile {
    match kernel.value.is_object() && platform.resources().warp_width.is_some() {
        true => Profile::Resources,
        false => Profile::OpenCl,
    }
}

/// The source that a kernel names, or else its program; adds the names of work items to the scope.
fn read_kernel(
    kernel: &Field<'_>,
    scope: &mut Scope,
    parameters: &[Parameter],
) -> Result<(Option<KernelSource>, Program), ModelError> {
    let source = match kernel.value.is_object() {
        true => {
            let names: Vec<&str> = parameters.iter().map(|p| p.name.as_str()).collect();
            Some(KernelSource::read(kernel, scope, &names)?)
        }
        false => None,
    };
    for name in ITEM_NAMES {
        scope.add(name, name, NameKind::Item)?;
    }
    let kernel = match source {
        Some(_) => Vec::new(),
        None => read_program(kernel, scope)?,
    };
    Ok((source, kernel))
}

fn read_profile(field: &Field<'_>) -> Result<Profile, ModelError> {
    let text = field.text()?;
    Profile::ALL.into_iter().find(|p| p.name() == text).ok_or_else(|| {
        ModelError::new(
            &field.path,
            format!("unknown profile `{text}`"),
            suggest(text, Profile::ALL.iter().map(|p| p.name())),
        )
    })
}

fn read_without(field: Option<Field<'_>>, profile: Profile) -> Result<Vec<Part>, ModelError> {
    let Some(field) = field else { return Ok(Vec::new()) };
    if profile != Profile::Resources {
        let what = "only the profile resources has parts that can be left out";
        return Err(ModelError::new(&field.path, what, "remove it"));
    }
    let part = |f: &Field<'_>| {
        let text = f.text()?;
        Part::find(text).ok_or_else(|| {
            let known = Part::ALL.iter().map(|p| p.name());
            ModelError::new(&f.path, format!("unknown part `{text}`"), suggest(text, known))
        })
    };
    field.array()?.iter().map(part).collect()
}

fn read_platform(field: &Field<'_>, lookup: PlatformLookup<'_>) -> Result<Platform, ModelError> {
    match field.value {
        Value::String(name) => Platform::from_json(name, &lookup(name)?),
        value => Platform::from_json("platform", value),
    }
}

fn read_inputs(
    field: Option<Field<'_>>,
    overrides: &IndexMap<String, i64>,
    platform: &mut Platform,
) -> Result<IndexMap<String, i64>, ModelError> {
    let mut inputs = IndexMap::new();
    if let Some(field) = field {
        for (name, value) in field.object()?.entries() {
            inputs.insert(name.to_owned(), value.integer()?);
        }
    }
    for (name, value) in overrides {
        if let Some(slot) = inputs.get_mut(name) {
            *slot = *value;
        } else if let Some(set) = platform.set(name, *value) {
            set?;
        } else {
            return Err(ModelError::new(
                format!("--input {name}"),
                "no input or platform number has this name",
                suggest(
                    name,
                    inputs.keys().map(String::as_str).chain(platform.numbers().map(|(n, _)| n)),
                ),
            ));
        }
    }
    Ok(inputs)
}

fn read_parameters(
    field: Option<Field<'_>>,
    scope: &mut Scope,
) -> Result<Vec<Parameter>, ModelError> {
    let Some(field) = field else { return Ok(Vec::new()) };
    let mut parameters = Vec::new();
    for (name, value) in field.object()?.entries() {
        let domain = match value.value {
            Value::Array(_) => {
                let items = value.array()?;
                let items = items
                    .iter()
                    .map(|f| scope.expression(&f.path, &f.expression()?))
                    .collect::<Result<_, _>>()?;
                Domain::List(items)
            }
            Value::Number(_) => Domain::List(vec![Expr::Int(value.integer()?)]),
            _ => {
                let text = value.text().map_err(|_| {
                    value.expected("a list of values or a domain such as \"powers_of_two(4, 64)\"")
                })?;
                parse_domain(text)
                    .map_err(|e| ModelError::new(&value.path, e.to_string(), ""))?
                    .resolve(&mut |n| scope.slot(n))
                    .map_err(|n| scope.unknown(&value.path, &n))?
            }
        };
        scope.add(&value.path, name, NameKind::Parameter)?;
        parameters.push(Parameter { name: name.to_owned(), domain });
    }
    Ok(parameters)
}

/// The names that are given values from outside.
fn given(inputs: &IndexMap<String, i64>, platform: &Platform) -> Result<Scope, ModelError> {
    let mut scope = Scope::default();
    for name in inputs.keys() {
        scope.add(&join("inputs", name), name, NameKind::Input)?;
    }
    for (name, _) in platform.numbers() {
        scope.add("platform", name, NameKind::Platform)?;
    }
    Ok(scope)
}

fn read_definitions(
    field: Option<Field<'_>>,
    scope: &mut Scope,
) -> Result<Vec<(String, Expr)>, ModelError> {
    let Some(field) = field else { return Ok(Vec::new()) };
    let object = field.object()?;
    let all: Vec<&str> = object.entries().map(|(n, _)| n).collect();
    let mut definitions = Vec::new();
    for (name, value) in object.entries() {
        let parsed = scope.parsed(&value.path, &value.expression()?)?;
        let later = &all[definitions.len()..];
        let expr = parsed.resolve(&mut |n| scope.slot(n)).map_err(|unknown| {
            let at = &value.path;
            if unknown == name {
                ModelError::new(
                    at,
                    format!("`{unknown}` is defined by itself"),
                    "break the recursion",
                )
            } else if later.contains(&unknown.as_str()) {
                ModelError::new(
                    at,
                    format!("`{unknown}` is defined only later"),
                    format!("move `{unknown}` before `{name}`; definitions may not be recursive"),
                )
            } else {
                scope.unknown(at, &unknown)
            }
        })?;
        scope.add(&value.path, name, NameKind::Definition)?;
        definitions.push((name.to_owned(), expr));
    }
    Ok(definitions)
}

fn read_constraints(
    field: Option<Field<'_>>,
    scope: &Scope,
) -> Result<Vec<SpaceConstraint>, ModelError> {
    let Some(field) = field else { return Ok(Vec::new()) };
    field
        .array()?
        .iter()
        .map(|f| {
            let text = f.text()?.to_owned();
            Ok(SpaceConstraint { expr: scope.expression(&f.path, &text)?, text })
        })
        .collect()
}

fn read_launch(
    field: &Field<'_>,
    profile: Profile,
    scope: &Scope,
) -> Result<(Launch, Vec<Dimension>), ModelError> {
    let mut object = field.clone().object()?;
    let expr = |f: Field<'_>| scope.expression(&f.path, &f.expression()?);
    let local_size = object.need("local_size", "the work items of a group")?;
    let read = match profile {
        Profile::OpenCl | Profile::Published2021 | Profile::Resources => {
            let global_size = object.need("global_size", "the work items of the launch")?;
            read_range(global_size, local_size, scope)?
        }
        Profile::Published2023 => {
            let activations = object.need("activations", "how often the unit is activated")?;
            let local_size = expr(local_size)?;
            (Launch::Activations { activations: expr(activations)?, local_size }, Vec::new())
        }
    };
    object.finish()?;
    Ok(read)
}

/// One expression each, or one for each of up to three dimensions.
fn read_range(
    global: Field<'_>,
    local: Field<'_>,
    scope: &Scope,
) -> Result<(Launch, Vec<Dimension>), ModelError> {
    let expr = |f: &Field<'_>| scope.expression(&f.path, &f.expression()?);
    let sizes = |f: &Field<'_>| match f.value {
        Value::Array(_) => f.array()?.iter().map(expr).collect::<Result<Vec<Expr>, _>>(),
        _ => Ok(vec![expr(f)?]),
    };
    let (globals, locals) = (sizes(&global)?, sizes(&local)?);
    if !(1..=3).contains(&globals.len()) {
        return Err(global.expected("a size, or a list of one to three sizes"));
    }
    if locals.len() != globals.len() {
        return Err(local.expected(&format!("{} sizes, as for global_size", globals.len())));
    }
    let product = |sizes: &[Expr]| {
        let mut sizes = sizes.iter().cloned();
        let first = sizes.next().unwrap_or(Expr::Int(1));
        sizes.fold(first, |a, b| Expr::Binary(BinaryOp::Mul, Box::new(a), Box::new(b)))
    };
    let launch = Launch::Range { global_size: product(&globals), local_size: product(&locals) };
    let grid = globals.into_iter().zip(locals).map(|(global, local)| Dimension { global, local });
    Ok((launch, grid.collect()))
}

fn read_sizes(
    field: Option<Field<'_>>,
    weights: Option<Field<'_>>,
    inputs: &IndexMap<String, i64>,
) -> Result<IndexMap<String, NamedSize>, ModelError> {
    let mut sizes = IndexMap::new();
    let object = field.map(Field::object).transpose()?;
    for (size, values) in object.iter().flat_map(Object::entries) {
        let mut set = IndexMap::new();
        for (name, value) in values.object()?.entries() {
            if !inputs.contains_key(name) {
                return Err(ModelError::new(
                    &value.path,
                    "no input has this name",
                    suggest(name, inputs.keys().map(String::as_str)),
                ));
            }
            set.insert(name.to_owned(), value.integer()?);
        }
        sizes.insert(size.to_owned(), NamedSize { inputs: set, weight: 1 });
    }
    let object = weights.map(Field::object).transpose()?;
    for (size, weight) in object.iter().flat_map(Object::entries) {
        let known: Vec<String> = sizes.keys().cloned().collect();
        let Some(named) = sizes.get_mut(size) else {
            let fix = suggest(size, known.iter().map(String::as_str));
            return Err(ModelError::new(&weight.path, "no size has this name", fix));
        };
        named.weight = match weight.integer()? {
            number @ 1.. => number,
            _ => return Err(weight.expected("a number of launches, at least 1")),
        };
    }
    Ok(sizes)
}

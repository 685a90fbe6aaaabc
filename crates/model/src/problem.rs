//! A tuning problem: the whole of what is asked, read from JSON and checked.
//!
//! The format is described in `docs/problem-format.md` and `docs/reference/problem.schema.json`.
//! [`Problem::from_json`] checks everything that can be checked without choosing a configuration:
//! shapes, names, the order of definitions, profile and launch fitting each other. What depends on
//! the configuration is checked when one is bound (see [`super::space`]).

use indexmap::IndexMap;
use serde_json::Value;
use tickbound_input::message::suggest;

use super::error::ModelError;
use super::json::{Field, join};
use super::kernel::{Program, Stmt, StmtKind, has_barrier};
use super::launch_rule::{GroupNeeds, LaunchRule};
use super::platform::{Access, Platform};
use super::resources::Part;
use super::scope::{ITEM_NAMES, NameKind, Scope};
use super::source::KernelSource;
use super::usage::{LineUsage, Usage};
use tickbound_expr::domain::Domain;
use tickbound_expr::parse::parse_domain;
use tickbound_expr::{BinaryOp, Expr};

/// The version of the problem format that this crate reads.
pub const FORMAT_VERSION: i64 = 1;

/// Which semantics the platform has; see `docs/semantics.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// OpenCL: every group once, code between barriers is a phase.
    OpenCl,
    /// Garanina, Staroletov, Gorlatch 2023 (seed 000): one unit, activated several times.
    Published2023,
    /// Garanina, Gorlatch 2021 (seed 001): multiprocessors with dispatchers that run warps.
    Published2021,
    /// What the kernel uses of a device's resources, instead of what its items do one after
    /// another.
    Resources,
}

impl Profile {
    /// All profiles.
    pub const ALL: [Profile; 4] =
        [Profile::OpenCl, Profile::Published2023, Profile::Published2021, Profile::Resources];

    /// The profile of a file that names none: `resources` for OpenCL C on a platform that has
    /// what this profile needs, because it ranks measured configurations better
    /// (docs/results/predictions.md); otherwise `opencl`.
    fn default_for(platform: &Platform, kernel: &Field<'_>) -> Profile {
        match kernel.value.is_object() && platform.resources().warp_width.is_some() {
            true => Profile::Resources,
            false => Profile::OpenCl,
        }
    }

    /// The profile's name in a problem file.
    pub fn name(self) -> &'static str {
        match self {
            Profile::OpenCl => "opencl",
            Profile::Published2023 => "published-2023",
            Profile::Published2021 => "published-2021",
            Profile::Resources => "resources",
        }
    }
}

/// A tuning parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// The values it ranges over; may depend on inputs, the platform and earlier parameters.
    pub domain: Domain,
}

/// A constraint: an expression that must hold, with `/` exact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Constraint {
    /// As it was written.
    pub text: String,
    /// The expression.
    pub expr: Expr,
}

/// How the kernel is launched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Launch {
    /// All profiles but `published-2023`: an index space cut into groups.
    Range {
        /// Work items in the launch.
        global_size: Expr,
        /// Work items in a group.
        local_size: Expr,
    },
    /// `published-2023`: one unit, activated several times.
    Activations {
        /// Work items in a group.
        local_size: Expr,
        /// How often the unit is activated.
        activations: Expr,
    },
}

/// One dimension of a launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dimension {
    /// Work items of the launch along it.
    pub global: Expr,
    /// Work items of a group along it.
    pub local: Expr,
}

impl Launch {
    /// Work items in a group.
    pub fn local_size(&self) -> &Expr {
        match self {
            Launch::Range { local_size, .. } | Launch::Activations { local_size, .. } => local_size,
        }
    }
}

/// A tuning problem that has passed all checks that need no configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What people call it.
    pub name: String,
    /// The semantics.
    pub profile: Profile,
    /// The platform.
    pub platform: Platform,
    /// All names.
    pub scope: Scope,
    /// Values of the inputs, in slot order.
    pub inputs: IndexMap<String, i64>,
    /// The parameters, in slot order.
    pub parameters: Vec<Parameter>,
    /// What must hold between them.
    pub constraints: Vec<Constraint>,
    /// Named expressions, each over the names before it.
    pub definitions: Vec<(String, Expr)>,
    /// How the kernel is launched.
    pub launch: Launch,
    /// Sizes of the launch by dimension, global and local, where it has more than the products in
    /// `launch`: one to three for `opencl`, none for the other profiles.
    pub grid: Vec<Dimension>,
    /// Named sets of input values.
    pub sizes: IndexMap<String, IndexMap<String, i64>>,
    /// The kernel in OpenCL C, if the file names one. Its `kernel` is empty until whoever reads
    /// the source calls [`Problem::set_kernel`].
    pub source: Option<KernelSource>,
    /// What each work item does.
    pub kernel: Program,
    /// What element 0 of one unit does once, after everything else.
    pub finish: Program,
    /// Parts of the profile `resources` that are left out.
    pub without: Vec<Part>,
    pub(crate) usage: Usage,
    /// What a group needs, as the source says it.
    pub(crate) group_needs: GroupNeeds,
    /// What the kernel, its arguments and its source ask of a launch.
    pub(crate) launch_rules: Vec<LaunchRule>,
    /// Names of the usage that the file states.
    pub(crate) stated_usage: Vec<&'static str>,
    /// The usage by lines of the source, where it was counted in one.
    pub(crate) usage_lines: Vec<LineUsage>,
}

/// Finds a platform that a problem names instead of writing out.
pub type PlatformLookup<'a> = &'a dyn Fn(&str) -> Result<Value, ModelError>;

/// Reads JSON text.
///
/// # Errors
/// Where it is not JSON.
pub fn parse_json(text: &str) -> Result<Value, ModelError> {
    tickbound_input::json(text).map_err(|e| {
        let at = format!("line {}, column {}", e.line(), e.column());
        let said = e.to_string();
        // A key that is there twice; any value is one.
        match said.rsplit_once(" at line ") {
            Some((twice, _)) if e.is_data() => ModelError::new(at, twice, "remove one of the two"),
            _ => ModelError::new(at, format!("not JSON: {said}"), "see docs/problem-format.md"),
        }
    })
}

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
        let mut root = Field::new("", value).object()?;
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
        let profile = profile.unwrap_or_else(|| Profile::default_for(&platform, &kernel));
        let without = read_without(root.take("without"), profile)?;
        let inputs = root.take("inputs");
        let inputs = read_inputs(inputs, overrides, &mut platform)?;
        if profile == Profile::Resources {
            platform.count_in_clocks();
        }

        let mut scope = given(&inputs, &platform)?;
        let parameters = read_parameters(root.take("parameters"), &mut scope)?;
        let definitions = read_definitions(root.take("definitions"), &mut scope)?;
        let constraints = read_constraints(root.take("constraints"), &scope)?;
        let (launch, grid) =
            read_launch(&root.need("launch", "how the kernel is launched")?, profile, &scope)?;
        let (usage, stated_usage) = Usage::read(root.take("usage"), &scope)?;
        let sizes = read_sizes(root.take("sizes"), &inputs)?;
        let source = match kernel.value.is_object() {
            true => {
                let names: Vec<&str> = parameters.iter().map(|p| p.name.as_str()).collect();
                Some(KernelSource::read(&kernel, &scope, &names)?)
            }
            false => None,
        };
        for name in ITEM_NAMES {
            scope.add(name, name, NameKind::Item)?;
        }
        let kernel = match source {
            Some(_) => Vec::new(),
            None => read_program(&kernel, &scope)?,
        };
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

    /// The same problem without what the host does after the launch (`finish`): what a device's
    /// clock times.
    #[must_use]
    pub fn kernel_alone(mut self) -> Problem {
        self.finish.clear();
        self
    }

    /// What the kernel uses of a device.
    pub fn usage(&self) -> &Usage {
        &self.usage
    }

    /// Whether a number of the usage was counted in the source, and not stated in the file.
    pub fn counts_usage(&self, name: &str) -> bool {
        self.source.is_some() && !self.stated_usage.contains(&name)
    }

    /// What each line of the source adds to the usage, where that was counted in one.
    pub fn usage_lines(&self) -> &[LineUsage] {
        &self.usage_lines
    }

    /// First slot of the parameters.
    pub fn first_parameter(&self) -> usize {
        self.inputs.len() + self.platform.numbers().count()
    }

    /// First slot of the definitions.
    pub fn first_definition(&self) -> usize {
        self.first_parameter() + self.parameters.len()
    }

    /// True if warps compete for dispatchers and memory, so that a configuration's time depends on
    /// its schedule.
    pub fn has_open_schedule(&self) -> bool {
        self.profile == Profile::OpenCl && self.platform.warps().is_some()
    }

    /// First slot of `lid`, `gid` and `group`.
    pub fn first_item_slot(&self) -> usize {
        self.first_definition() + self.definitions.len()
    }
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
) -> Result<Vec<Constraint>, ModelError> {
    let Some(field) = field else { return Ok(Vec::new()) };
    field
        .array()?
        .iter()
        .map(|f| {
            let text = f.text()?.to_owned();
            Ok(Constraint { expr: scope.expression(&f.path, &text)?, text })
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
    inputs: &IndexMap<String, i64>,
) -> Result<IndexMap<String, IndexMap<String, i64>>, ModelError> {
    let Some(field) = field else { return Ok(IndexMap::new()) };
    let mut sizes = IndexMap::new();
    for (size, values) in field.object()?.entries() {
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
        sizes.insert(size.to_owned(), set);
    }
    Ok(sizes)
}

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

fn read_program(field: &Field<'_>, scope: &Scope) -> Result<Program, ModelError> {
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
    object: &mut super::json::Object<'_>,
    scope: &Scope,
) -> Result<StmtKind, ModelError> {
    let expr = |f: &Field<'_>| scope.expression(&f.path, &f.expression()?);
    let access = |access| Ok(StmtKind::Access { access, amount: expr(main)? });
    match keyword {
        "work" => access(Access::Work),
        "global" => access(Access::Global),
        "local" => access(Access::Local),
        "constant" => access(Access::Constant),
        "compute" => access(Access::Compute),
        "atomic" => access(Access::Atomic),
        "local_atomic" => access(Access::LocalAtomic),
        "shared_atomic" => access(Access::SharedAtomic),
        "shared_local_atomic" => access(Access::SharedLocalAtomic),
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

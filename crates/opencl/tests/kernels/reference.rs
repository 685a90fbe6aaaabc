//! Host references, run as programs of their own.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use tempfile::TempDir;
use tickbound_model::Bound;
use tickbound_model::source::ArgumentKind;

use crate::kernels::example::Kernel;
use crate::kernels::finish;
use crate::kernels::instrumented::{Content, c_type};

/// A kernel's host reference, compiled into a program that reads and writes files.
pub struct Reference {
    folder: TempDir,
}

impl Reference {
    pub fn build(kernel: &Kernel) -> Result<Reference, String> {
        let folder = TempDir::new().map_err(|e| e.to_string())?;
        let (mut types, mut values, mut writes) = (Vec::new(), Vec::new(), String::new());
        for (i, argument) in kernel.source().arguments.iter().enumerate() {
            let c = c_type(argument.element.name())?;
            match argument.kind {
                ArgumentKind::Local { .. } => continue,
                ArgumentKind::Buffer { output, .. } => {
                    types.push(format!("{}{c} *", if output { "" } else { "const " }));
                    values.push(format!("a[{i}]"));
                    if output {
                        writeln!(writes, "    transfer({i}, \"wb\");").unwrap();
                    }
                }
                ArgumentKind::Whole { .. } => return Err("no example has one".to_owned()),
                ArgumentKind::Scalar(_) | ArgumentKind::Real(_) => {
                    types.push(c.to_owned());
                    values.push(format!("*({c} *)a[{i}]"));
                }
            }
        }
        let text = format!(
            r#"#include <stdio.h>
#include <stdlib.h>
#include <string.h>
void reference({types});
static void *a[64];
static size_t bytes[64];
long value(const char *name)
{{
    char line[64];
    long number;
    FILE *f = fopen("values", "r");
    while (fscanf(f, "%63s %ld", line, &number) == 2)
        if (strcmp(line, name) == 0) {{ fclose(f); return number; }}
    exit(4);
}}
static void transfer(int i, const char *mode)
{{
    char file[16];
    sprintf(file, "%d", i);
    FILE *f = fopen(file, mode);
    if (*mode == 'r') {{
        fseek(f, 0, SEEK_END);
        bytes[i] = (size_t)ftell(f);
        rewind(f);
        a[i] = malloc(bytes[i] + 1);
    }}
    if ((*mode == 'r' ? fread(a[i], 1, bytes[i], f) : fwrite(a[i], 1, bytes[i], f)) != bytes[i])
        exit(5);
    fclose(f);
}}
int main(void)
{{
    for (int i = 0; i < {count}; i++) transfer(i, "rb");
    reference({values});
{writes}    return 0;
}}
"#,
            types = types.join(", "),
            values = values.join(", "),
            count = kernel.source().arguments.len(),
        );
        fs::write(folder.path().join("main.c"), text).map_err(|e| e.to_string())?;
        let file = kernel.folder.join(kernel.source().reference.as_ref().ok_or("no reference")?);
        let mut cc = Command::new("cc");
        cc.args(["-std=c99", "-O2", "-Werror", "main.c"]).arg(file).args(["-o", "main", "-lm"]);
        finish(cc.current_dir(folder.path()))?;
        Ok(Reference { folder })
    }

    /// What the buffers contain afterwards, by argument.
    pub fn run(&self, kernel: &Kernel, bound: &Bound) -> Result<Vec<Vec<u8>>, String> {
        let scope = &kernel.problem.scope;
        let mut values = String::new();
        for slot in 0..kernel.problem.first_item_slot() {
            writeln!(values, "{} {}", scope.name(slot), bound.env[slot]).unwrap();
        }
        let path = |name: String| self.folder.path().join(name);
        fs::write(path("values".into()), values).map_err(|e| e.to_string())?;
        let arguments = kernel.arguments(bound);
        for (i, argument) in arguments.iter().enumerate() {
            let (Content::Buffer(bytes) | Content::Scalar(bytes)) = &argument.content else {
                fs::write(path(i.to_string()), []).map_err(|e| e.to_string())?;
                continue;
            };
            fs::write(path(i.to_string()), bytes).map_err(|e| e.to_string())?;
        }
        finish(Command::new(path("main".into())).current_dir(self.folder.path()))?;
        let read = (0..arguments.len()).map(|i| fs::read(path(i.to_string())));
        read.collect::<Result<_, _>>().map_err(|e| e.to_string())
    }
}

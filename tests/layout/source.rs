//! Facts about one source file, read with syn.

use std::ops::RangeInclusive;
use std::str::FromStr;

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use crate::prose::{self, Prose};

/// A path of names, from the crate's root or as written.
pub type Names = Vec<String>;

/// What the rules read from a file. Code under `#[cfg(test)]` is left out.
#[derive(Default)]
pub struct Source {
    /// Lines of items under `#[cfg(test)]`.
    pub test_lines: Vec<RangeInclusive<usize>>,
    /// Child modules that exist under `#[cfg(test)]` only.
    pub test_modules: Vec<Names>,
    pub functions: Vec<Function>,
    pub items: Vec<Item>,
    pub uses: Vec<Use>,
    pub paths: Vec<PathUse>,
    /// Comments and string literals.
    pub prose: Vec<Prose>,
    /// The text with comments blanked out.
    pub code: String,
    /// The lines of the `//!` comment.
    pub module_docs: Vec<String>,
}

/// A function with a body.
pub struct Function {
    pub name: String,
    pub line: usize,
    /// Lines from `fn` to the closing brace.
    pub lines: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Type,
    Constant,
    Function,
    Macro,
    ExportedMacro,
}

/// A named item. `scope` is the path of inline modules around it.
pub struct Item {
    pub kind: Kind,
    pub name: String,
    pub line: usize,
    pub public: bool,
    /// Outside functions and implementations.
    pub at_module_level: bool,
    pub scope: Names,
}

/// One leaf of a `use` statement.
pub struct Use {
    pub scope: Names,
    pub path: Names,
    /// The name that it brings into scope; none for a glob.
    pub name: Option<String>,
    pub reexport: bool,
    pub renamed: bool,
    pub line: usize,
}

/// A path in a type, an expression, a pattern or a macro call.
pub struct PathUse {
    pub scope: Names,
    pub path: Names,
    pub line: usize,
}

impl Source {
    /// Reads a file's text. The error has the line where syn stopped.
    pub fn parse(text: &str) -> Result<Source, String> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let fault = |line: usize, what: String| format!("{line}: syn cannot read it: {what}");
        let tokens =
            TokenStream::from_str(text).map_err(|e| fault(e.span().start().line, e.to_string()))?;
        let (comments, mut prose) = prose::extract(tokens.clone(), text);
        let file: syn::File =
            syn::parse2(tokens).map_err(|e| fault(e.span().start().line, e.to_string()))?;
        let mut reader = Reader::default();
        reader.visit_file(&file);
        let mut source = reader.source;
        prose.retain(|p| !source.is_test_line(p.line));
        source.prose = prose;
        source.code = prose::blank(text, &comments);
        source.module_docs = file.attrs.iter().filter_map(doc_line).collect();
        proc_macro2::extra::invalidate_current_thread_spans();
        Ok(source)
    }

    /// True for a line of an item under `#[cfg(test)]`.
    pub fn is_test_line(&self, line: usize) -> bool {
        self.test_lines.iter().any(|lines| lines.contains(&line))
    }
}

/// The text of a doc attribute.
fn doc_line(attribute: &syn::Attribute) -> Option<String> {
    let syn::Meta::NameValue(meta) = &attribute.meta else { return None };
    match &meta.value {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. })
            if attribute.path().is_ident("doc") =>
        {
            Some(text.value().trim().to_owned())
        }
        _ => None,
    }
}

/// True if `#[cfg(test)]` is among the attributes.
fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::List(list) => {
            list.path.is_ident("cfg") && list.tokens.to_string().trim() == "test"
        }
        _ => false,
    })
}

/// The attributes of an item.
fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    use syn::Item;
    match item {
        Item::Const(i) => &i.attrs,
        Item::Enum(i) => &i.attrs,
        Item::Fn(i) => &i.attrs,
        Item::Impl(i) => &i.attrs,
        Item::Macro(i) => &i.attrs,
        Item::Mod(i) => &i.attrs,
        Item::Static(i) => &i.attrs,
        Item::Struct(i) => &i.attrs,
        Item::Trait(i) => &i.attrs,
        Item::Type(i) => &i.attrs,
        Item::Use(i) => &i.attrs,
        _ => &[],
    }
}

/// Collects facts while it visits a file.
#[derive(Default)]
struct Reader {
    source: Source,
    scope: Names,
    /// Blocks and implementations around the current node.
    depth: usize,
}

impl Reader {
    /// Records a named item.
    fn item(&mut self, kind: Kind, name: &syn::Ident, vis: Option<&syn::Visibility>) {
        self.source.items.push(Item {
            kind,
            name: name.to_string(),
            line: name.span().start().line,
            public: matches!(vis, Some(syn::Visibility::Public(_))),
            at_module_level: self.depth == 0,
            scope: self.scope.clone(),
        });
    }

    /// Records a function's length.
    fn function(&mut self, signature: &syn::Signature, body: &syn::Block) {
        let first = signature.fn_token.span.start().line;
        let last = body.brace_token.span.close().end().line;
        let name = signature.ident.to_string();
        let line = signature.ident.span().start().line;
        self.source.functions.push(Function { name, line, lines: last + 1 - first });
    }

    /// Records the lines of an item that exists in tests only.
    fn skip(&mut self, node: &impl Spanned) {
        let span = node.span();
        self.source.test_lines.push(span.start().line..=span.end().line);
    }

    /// Records each leaf of a `use` tree.
    fn leaves(&mut self, tree: &syn::UseTree, prefix: &[String], reexport: bool) {
        let longer = |name: &syn::Ident| [prefix, &[name.to_string()]].concat();
        let (path, name, line, renamed) = match tree {
            syn::UseTree::Path(p) => return self.leaves(&p.tree, &longer(&p.ident), reexport),
            syn::UseTree::Group(group) => {
                return group.items.iter().for_each(|tree| self.leaves(tree, prefix, reexport));
            }
            syn::UseTree::Glob(glob) => {
                (prefix.to_vec(), None, glob.star_token.span.start().line, false)
            }
            syn::UseTree::Name(n) if n.ident == "self" => {
                (prefix.to_vec(), prefix.last().cloned(), n.ident.span().start().line, false)
            }
            syn::UseTree::Name(n) => {
                (longer(&n.ident), Some(n.ident.to_string()), n.ident.span().start().line, false)
            }
            syn::UseTree::Rename(r) => {
                let path = if r.ident == "self" { prefix.to_vec() } else { longer(&r.ident) };
                (path, Some(r.rename.to_string()), r.rename.span().start().line, true)
            }
        };
        let scope = self.scope.clone();
        self.source.uses.push(Use { scope, path, name, reexport, renamed, line });
    }

    /// Records the paths in the tokens of a macro call.
    fn tokens(&mut self, stream: TokenStream) {
        let trees: Vec<TokenTree> = stream.into_iter().collect();
        let punct = |at: usize, c: char| match trees.get(at) {
            Some(TokenTree::Punct(punct)) => punct.as_char() == c,
            _ => false,
        };
        let joins = |at: usize| {
            matches!(trees.get(at), Some(TokenTree::Punct(p)) if p.spacing() == Spacing::Joint)
                && punct(at, ':')
                && punct(at + 1, ':')
        };
        let mut at = 0;
        while at < trees.len() {
            let ident = match &trees[at] {
                TokenTree::Group(group) => {
                    self.tokens(group.stream());
                    at += 1;
                    continue;
                }
                TokenTree::Ident(ident) => ident,
                _ => {
                    at += 1;
                    continue;
                }
            };
            let follows = at > 0 && (punct(at - 1, '.') || punct(at - 1, '$'));
            let external = at > 1 && joins(at - 2);
            let (mut path, line) = (vec![ident.to_string()], ident.span().start().line);
            at += 1;
            while joins(at) {
                let Some(TokenTree::Ident(next)) = trees.get(at + 2) else { break };
                path.push(next.to_string());
                at += 3;
            }
            let call = matches!(trees.get(at), Some(TokenTree::Group(group))
                if group.delimiter() == Delimiter::Parenthesis);
            if !follows && !external && (path.len() > 1 || call || is_capital(&path[0])) {
                self.source.paths.push(PathUse { scope: self.scope.clone(), path, line });
            }
        }
    }

    /// Records a path as written.
    fn path(&mut self, path: &syn::Path) {
        if let (None, Some(first)) = (&path.leading_colon, path.segments.first()) {
            let line = first.ident.span().start().line;
            let path = path.segments.iter().map(|s| s.ident.to_string()).collect();
            self.source.paths.push(PathUse { scope: self.scope.clone(), path, line });
        }
    }
}

/// True if a name begins with a capital letter, as types and constants do.
fn is_capital(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase())
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}

    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    fn visit_item(&mut self, item: &'ast syn::Item) {
        if is_test(attributes(item)) {
            if let syn::Item::Mod(syn::ItemMod { ident, content: None, .. }) = item {
                let child = [self.scope.as_slice(), &[ident.to_string()]].concat();
                self.source.test_modules.push(child);
            }
            return self.skip(item);
        }
        match item {
            syn::Item::Struct(i) => self.item(Kind::Type, &i.ident, Some(&i.vis)),
            syn::Item::Enum(i) => self.item(Kind::Type, &i.ident, Some(&i.vis)),
            syn::Item::Trait(i) => self.item(Kind::Type, &i.ident, Some(&i.vis)),
            syn::Item::Type(i) => self.item(Kind::Type, &i.ident, Some(&i.vis)),
            syn::Item::Const(i) => self.item(Kind::Constant, &i.ident, Some(&i.vis)),
            syn::Item::Static(i) => self.item(Kind::Constant, &i.ident, Some(&i.vis)),
            syn::Item::Fn(i) => self.item(Kind::Function, &i.sig.ident, Some(&i.vis)),
            _ => {}
        }
        visit::visit_item(self, item);
    }

    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        self.scope.push(module.ident.to_string());
        visit::visit_item_mod(self, module);
        self.scope.pop();
    }

    fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
        if let Some(name) = &item.ident {
            let exported = item.attrs.iter().any(|a| a.path().is_ident("macro_export"));
            let kind = if exported { Kind::ExportedMacro } else { Kind::Macro };
            self.item(kind, name, None);
        }
        visit::visit_item_macro(self, item);
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if item.leading_colon.is_none() {
            let reexport = !matches!(item.vis, syn::Visibility::Inherited);
            self.leaves(&item.tree, &[], reexport);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.function(&item.sig, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        self.depth += 1;
        visit::visit_item_impl(self, item);
        self.depth -= 1;
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if is_test(&item.attrs) {
            return self.skip(item);
        }
        self.function(&item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_impl_item_const(&mut self, item: &'ast syn::ImplItemConst) {
        self.item(Kind::Constant, &item.ident, None);
        visit::visit_impl_item_const(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(body) = &item.default {
            self.function(&item.sig, body);
        }
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_block(&mut self, block: &'ast syn::Block) {
        self.depth += 1;
        visit::visit_block(self, block);
        self.depth -= 1;
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if let syn::Expr::Path(function) = &*call.func {
            self.path(&function.path);
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.segments.len() > 1
            || path.segments.first().is_some_and(|s| is_capital(&s.ident.to_string()))
        {
            self.path(path);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.path(&call.path);
        self.tokens(call.tokens.clone());
    }
}

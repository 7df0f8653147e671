//! Within a crate, modules point one way: no import cycle spans siblings, nor a folder's `mod.rs` and its modules.
//! ARCHITECTURE, "Invariants".
//!
//! A node is a module beside others in one folder: a file, a folder with its contents, or the folder's own `mod.rs`
//! (`lib.rs`), written `folder/mod`. An arrow leads from the node whose code names an item by a path, also inside the
//! arguments of a macro, to the node that defines the item. Re-exports are followed and add no arrow themselves. Test
//! code adds none either.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::Visit;
use tidewatch_tidy::{Reading, Source, crates};

/// The path of a module from the root of the crate.
type Module = Vec<String>;
/// Two siblings, `folder/a` and `folder/b`: code in the first names an item of the second.
type Arrow = (String, String);

#[test]
fn modules_point_one_way() {
    let mut circles = Vec::new();
    for name in crates() {
        let reading =
            Reading::of(&format!("crates/{name}/src"), &["rs"]).only("tests", |source| !is_test(&source.path));
        reading.report(&format!("arrows of {name}"));
        let arrows = arrows_of(&reading.sources);
        let found = circles_of(&arrows).into_iter();
        circles
            .extend(found.map(|circle| format!("  {name}, {} nodes:\n{}", circle.len(), described(&circle, &arrows))));
    }
    assert!(circles.is_empty(), "modules import each other in a circle:\n{}", circles.join("\n"));
}

/// The arrows of a circle, each with the names of one file.
fn described(circle: &BTreeSet<String>, arrows: &BTreeMap<Arrow, String>) -> String {
    let inner = arrows.iter().filter(|((from, to), _)| circle.contains(from) && circle.contains(to));
    inner.map(|((from, to), place)| format!("    {from} -> {to}: {place}")).collect::<Vec<_>>().join("\n")
}

fn is_test(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.contains("/tests/")
}

/// Every arrow between the nodes of a crate, with one source location of each.
fn arrows_of(sources: &[Source]) -> BTreeMap<Arrow, String> {
    let mut modules = BTreeMap::new();
    for source in sources {
        let file = syn::parse_file(&source.text).unwrap_or_else(|error| panic!("{}: {error}", source.path));
        let module = module_of(&source.path);
        let parsed = Parsed { path: source.path.clone(), scope: Scope::of(&file.items), file };
        // `main.rs` beside `lib.rs` is a crate of its own, which names no path of this one.
        if !(source.path.ends_with("/src/main.rs") && modules.contains_key(&module)) {
            modules.insert(module, parsed);
        }
    }
    let of_tests: BTreeSet<Module> = modules
        .iter()
        .flat_map(|(module, parsed)| parsed.scope.of_tests.iter().map(|name| child(module, name)))
        .collect();
    modules.retain(|module, _| !(0..=module.len()).any(|end| of_tests.contains(&module[..end])));

    let known = Known { modules: &modules };
    let mut arrows = BTreeMap::new();
    for (module, parsed) in &modules {
        let mut names = Names { module: module.clone(), inner: 0, known: &known, found: BTreeMap::new() };
        names.visit_file(&parsed.file);
        for (target, named) in names.found {
            if let Some(arrow) = arrow(module, &target) {
                let named = named.into_iter().collect::<Vec<_>>().join(", ");
                arrows.entry(arrow).or_insert_with(|| format!("{named} in {}", parsed.path));
            }
        }
    }
    arrows
}

/// The two nodes of the innermost folder that holds both modules, or None for one and the same.
fn arrow(from: &[String], to: &[String]) -> Option<Arrow> {
    let shared = from.iter().zip(to).take_while(|(a, b)| a == b).count();
    let node = |module: &[String]| match module.get(shared) {
        Some(_) => module[..=shared].join("/"),
        None => [&module[..shared], &["mod".to_owned()]].concat().join("/"),
    };
    (from != to).then(|| (node(from), node(to)))
}

/// The module of a file below `src/`.
fn module_of(path: &str) -> Module {
    let inner = path.split_once("/src/").map_or(path, |(_, inner)| inner);
    let mut module: Module = inner.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if module.last().is_some_and(|name| ["mod", "lib", "main"].contains(&name.as_str())) {
        module.pop();
    }
    module
}

fn child(module: &[String], name: &str) -> Module {
    [module, &[name.to_owned()]].concat()
}

/// A file with the names of its top level.
struct Parsed {
    path: String,
    file: syn::File,
    scope: Scope,
}

/// The names at the top level of a module.
#[derive(Default)]
struct Scope {
    /// Names that the module imports or re-exports, with their paths.
    imports: BTreeMap<String, Vec<String>>,
    /// Modules of which everything is imported.
    globs: Vec<Vec<String>>,
    /// Names that the module defines.
    items: BTreeSet<String>,
    /// Modules in files of their own that only tests have.
    of_tests: Vec<String>,
}

impl Scope {
    fn of(items: &[syn::Item]) -> Scope {
        let mut scope = Scope::default();
        for item in items {
            let name = match item {
                syn::Item::Use(item) if !is_for_tests(&item.attrs) => {
                    leaves(&[], &item.tree, &mut |path, alias| match alias {
                        Some(alias) => drop(scope.imports.insert(alias, path)),
                        None => scope.globs.push(path),
                    });
                    continue;
                }
                syn::Item::Mod(item) if item.content.is_none() => {
                    if is_for_tests(&item.attrs) {
                        scope.of_tests.push(item.ident.to_string());
                    }
                    continue;
                }
                syn::Item::Mod(item) => &item.ident,
                syn::Item::Const(item) => &item.ident,
                syn::Item::Enum(item) => &item.ident,
                syn::Item::Fn(item) => &item.sig.ident,
                syn::Item::Static(item) => &item.ident,
                syn::Item::Struct(item) => &item.ident,
                syn::Item::Trait(item) => &item.ident,
                syn::Item::Type(item) => &item.ident,
                syn::Item::Union(item) => &item.ident,
                syn::Item::Macro(syn::ItemMacro { ident: Some(name), .. }) => name,
                _ => continue,
            };
            scope.items.insert(name.to_string());
        }
        scope
    }
}

/// Calls `leaf` for each path that a `use` names, with the name that it gets, or None for `*`.
fn leaves(prefix: &[String], tree: &syn::UseTree, leaf: &mut impl FnMut(Vec<String>, Option<String>)) {
    match tree {
        syn::UseTree::Path(path) => leaves(&child(prefix, &path.ident.to_string()), &path.tree, leaf),
        syn::UseTree::Name(name) if name.ident == "self" => leaf(prefix.to_vec(), prefix.last().cloned()),
        syn::UseTree::Name(name) => leaf(child(prefix, &name.ident.to_string()), Some(name.ident.to_string())),
        syn::UseTree::Rename(name) => leaf(child(prefix, &name.ident.to_string()), Some(name.rename.to_string())),
        syn::UseTree::Glob(_) => leaf(prefix.to_vec(), None),
        syn::UseTree::Group(group) => group.items.iter().for_each(|tree| leaves(prefix, tree, leaf)),
    }
}

/// The modules of a crate.
struct Known<'a> {
    modules: &'a BTreeMap<Module, Parsed>,
}

/// Re-exports that are followed for one name.
const RE_EXPORTS_MAX: usize = 8;

impl Known<'_> {
    /// The module that defines what `path` names in `module`, or None outside the crate.
    fn definer(&self, module: &[String], path: &[String]) -> Option<Module> {
        self.resolve(module, path, RE_EXPORTS_MAX)
    }

    fn resolve(&self, module: &[String], path: &[String], steps: usize) -> Option<Module> {
        let absolute = self.absolute(module, path, steps)?;
        let end = (0..=absolute.len()).rev().find(|end| self.modules.contains_key(&absolute[..*end]))?;
        let (owner, rest) = absolute.split_at(end);
        let scope = &self.modules[owner].scope;
        match rest.first() {
            Some(name) if steps > 0 && !scope.items.contains(name) => match scope.imports.get(name) {
                // A name of another crate belongs to no module of this one.
                Some(import) => self.resolve(owner, import, steps - 1),
                None => Some(self.by_globs(owner, name, steps).unwrap_or_else(|| owner.to_vec())),
            },
            _ => Some(owner.to_vec()),
        }
    }

    /// The module below a glob import of `owner` that defines `name`.
    fn by_globs(&self, owner: &[String], name: &String, steps: usize) -> Option<Module> {
        self.modules[owner].scope.globs.iter().find_map(|glob| {
            let of_glob = self.resolve(owner, glob, steps - 1)?;
            self.modules[&of_glob].scope.items.contains(name).then_some(of_glob)
        })
    }

    /// The path from the root of the crate, or None for a name of another crate or scope.
    fn absolute(&self, module: &[String], path: &[String], steps: usize) -> Option<Module> {
        let first = path.first()?;
        let mut from = match first.as_str() {
            "crate" => Vec::new(),
            "self" | "super" => module.to_vec(),
            _ if self.modules.contains_key(&child(module, first)) => module.to_vec(),
            _ => {
                let import = self.modules.get(module)?.scope.imports.get(first)?;
                // `use serde::serde`: its own name.
                let import = (steps > 0 && import.first() != Some(first)).then_some(import)?;
                return self.absolute(module, &[import, &path[1..]].concat(), steps - 1);
            }
        };
        for segment in path {
            match segment.as_str() {
                "crate" | "self" => {}
                "super" => drop(from.pop()),
                _ => from.push(segment.clone()),
            }
        }
        Some(from)
    }
}

/// Collects the modules of the crate whose items a file names.
struct Names<'a> {
    module: Module,
    /// Inline modules around the code that is visited.
    inner: usize,
    known: &'a Known<'a>,
    /// The modules that define items, with the paths by which these are named.
    found: BTreeMap<Module, BTreeSet<String>>,
}

impl Names<'_> {
    fn name(&mut self, path: &[String]) {
        // Names without `crate`, `self` and `super` inside an inline module: its own imports were visited.
        if self.inner > 0 && !path.first().is_some_and(|first| ["crate", "self", "super"].contains(&first.as_str())) {
            return;
        }
        if let Some(module) = self.known.definer(&self.module, path) {
            self.found.entry(module).or_default().insert(path.join("::"));
        }
    }

    /// Visits the arguments of a macro: every `crate::a`, `self::a` and `super::a`, and groups of them.
    fn name_tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.name_macro_path(&std::mem::take(&mut path));
                    }
                    path.push(ident.to_string());
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                TokenTree::Group(group) => {
                    let tree =
                        (colons == 2).then(|| syn::parse2::<syn::UseTree>(TokenTree::Group(group.clone()).into()));
                    match tree {
                        Some(Ok(tree)) => leaves(&path, &tree, &mut |leaf, _| self.name_macro_path(&leaf)),
                        _ => {
                            self.name_macro_path(&path);
                            self.name_tokens(group.stream());
                        }
                    }
                    (path, colons) = (Vec::new(), 0);
                }
                _ => {
                    self.name_macro_path(&std::mem::take(&mut path));
                    colons = 0;
                }
            }
        }
        self.name_macro_path(&path);
    }

    /// Any identifier may stand alone in a macro: only paths name modules.
    fn name_macro_path(&mut self, path: &[String]) {
        if path.len() > 1 {
            self.name(path);
        }
    }
}

fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::List(list) if list.path.is_ident("cfg") => {
            list.tokens.to_string().split(|c: char| !c.is_alphanumeric()).any(|word| word == "test")
        }
        meta => meta.path().is_ident("test"),
    })
}

impl<'ast> Visit<'ast> for Names<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let attributes = match item {
            syn::Item::Const(item) => &item.attrs,
            syn::Item::Fn(item) => &item.attrs,
            syn::Item::Impl(item) => &item.attrs,
            syn::Item::Macro(item) => &item.attrs,
            syn::Item::Mod(item) => &item.attrs,
            syn::Item::Static(item) => &item.attrs,
            syn::Item::Struct(item) => &item.attrs,
            syn::Item::Use(item) => &item.attrs,
            _ => return syn::visit::visit_item(self, item),
        };
        if !is_for_tests(attributes) {
            syn::visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_for_tests(&item.attrs) {
            syn::visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.module.push(item.ident.to_string());
        self.inner += 1;
        syn::visit::visit_item_mod(self, item);
        self.inner -= 1;
        self.module.pop();
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if matches!(item.vis, syn::Visibility::Inherited) {
            leaves(&[], &item.tree, &mut |path, _| self.name(&path));
        }
    }

    fn visit_macro(&mut self, invocation: &'ast syn::Macro) {
        self.name_tokens(invocation.tokens.clone());
        syn::visit::visit_macro(self, invocation);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<_> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.name(&names);
        syn::visit::visit_path(self, path);
    }

    /// `pub(in crate::a)` names no item.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}
}

/// The circles: sets of more than one node of which each reaches each other.
fn circles_of(arrows: &BTreeMap<Arrow, String>) -> Vec<BTreeSet<String>> {
    let nodes: BTreeSet<&String> = arrows.keys().flat_map(|(from, to)| [from, to]).collect();
    let reached: BTreeMap<&String, BTreeSet<&String>> =
        nodes.iter().map(|node| (*node, reachable(node, arrows))).collect();
    let circle = |node: &&String| -> BTreeSet<String> {
        reached[*node].iter().filter(|other| reached[**other].contains(*node)).map(|other| (*other).clone()).collect()
    };
    let circles: BTreeSet<BTreeSet<String>> = nodes.iter().map(circle).filter(|circle| circle.len() > 1).collect();
    circles.into_iter().collect()
}

/// The nodes at the end of one or more arrows from `start`.
fn reachable<'a>(start: &str, arrows: &'a BTreeMap<Arrow, String>) -> BTreeSet<&'a String> {
    let mut reached = BTreeSet::new();
    let mut waiting = vec![start];
    while let Some(at) = waiting.pop() {
        for (_, to) in arrows.keys().filter(|(from, _)| from == at) {
            if reached.insert(to) {
                waiting.push(to);
            }
        }
    }
    reached
}

/// Circles of a crate of these files below `src/`, each as its nodes.
fn circles_in(files: &[(&str, &str)]) -> Vec<String> {
    let source =
        |(path, text): &(&str, &str)| Source { path: format!("crates/x/src/{path}"), text: (*text).to_owned() };
    let sources: Vec<Source> = files.iter().map(source).collect();
    let circles = circles_of(&arrows_of(&sources));
    circles.iter().map(|circle| circle.iter().cloned().collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn circles_are_found() {
    let lib = ("lib.rs", "mod a; mod b; pub struct Shared;");
    let a = ("a.rs", "use crate::b::B; pub struct A;");
    for (why, b, expected) in [
        ("one way", "pub struct B;", None),
        ("a path", "fn f() -> crate::a::A {}", Some("a b")),
        ("a use with a group", "use super::{a::{self, A}};", Some("a b")),
        ("a macro", "routes! { get: crate::a::list }", Some("a b")),
        ("a use in a macro", "routes! { use crate::{a::list, c}; }", Some("a b")),
        ("a test", "#[cfg(test)] mod tests { use crate::a::A; }", None),
        ("a visibility", "pub(in crate::a) struct B;", None),
        ("an item of the parent", "use super::Shared;", None),
    ] {
        let circles = circles_in(&[lib, a, ("b.rs", b)]);
        assert_eq!(circles.first().map(String::as_str), expected, "{why}: {circles:?}");
    }
}

#[test]
fn what_a_parent_defines_is_part_of_circles() {
    let uses_child = "mod a; mod b; use a::A; pub struct Shared(A);";
    let re_exports = "mod a; mod b; pub use a::A; pub struct Shared;";
    let re_exports_and_uses = "mod a; mod b; pub use a::A; pub struct Shared(A);";
    for (why, parent, a, expected) in [
        ("it uses its child", uses_child, "use super::Shared; pub struct A;", Some("a mod")),
        ("it re-exports its child", re_exports, "use super::Shared; pub struct A;", None),
        ("it uses what it re-exports", re_exports_and_uses, "impl super::Shared {} pub struct A;", Some("a mod")),
        ("a re-export leads to a sibling", re_exports, "use crate::b::B; pub struct A;", Some("a b")),
    ] {
        let circles = circles_in(&[("lib.rs", parent), ("a.rs", a), ("b.rs", "use super::A; pub struct B;")]);
        assert_eq!(circles.first().map(String::as_str), expected, "{why}: {circles:?}");
    }
}

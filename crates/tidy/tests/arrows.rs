//! Within a crate, folders point one way: no import cycle spans two sibling modules. ARCHITECTURE, "Invariants".
//!
//! A node is a module beside others in one folder: a file, or a folder with its contents. An arrow leads from a module
//! to a sibling that its code names by a path. Test code adds no arrows. A module may name items that its parent
//! folder's `mod.rs` defines: they are common to the folder.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::Visit;
use tidewatch_tidy::root;

/// The path of a module from the root of the crate.
type Module = Vec<String>;
/// Two siblings, `folder/a` and `folder/b`: code in the first names an item of the second.
type Arrow = (String, String);

#[test]
fn folders_point_one_way() {
    for entry in fs::read_dir(root().join("crates")).expect("the crates") {
        let folder = entry.expect("a readable folder").path();
        let (name, arrows) = (folder.display(), arrows_of(&folder.join("src")));
        if let Some(cycle) = cycle(&arrows) {
            let lines: Vec<_> =
                cycle.iter().map(|arrow| format!("  {} -> {}: {}", arrow.0, arrow.1, arrows[arrow])).collect();
            panic!("{name}: modules import each other in a circle:\n{}", lines.join("\n"));
        }
    }
}

/// Every arrow between siblings of a crate, with one source location of each.
fn arrows_of(src: &Path) -> BTreeMap<Arrow, String> {
    let files = modules(src, &Vec::new());
    assert!(!files.is_empty(), "{} holds no sources", src.display());
    let known: BTreeSet<&Module> = files.iter().map(|(module, _)| module).collect();
    let mut arrows = BTreeMap::new();
    for (module, path) in &files {
        let file = syn::parse_file(&fs::read_to_string(path).expect("text")).expect("Rust");
        let mut names = Names { module: module.clone(), found: BTreeSet::new() };
        names.visit_file(&file);
        for named in names.found {
            let target = (0..=named.len()).rev().map(|end| named[..end].to_vec()).find(|prefix| known.contains(prefix));
            let target = target.unwrap_or_default();
            let shared = module.iter().zip(&target).take_while(|(a, b)| a == b).count();
            if let (Some(_), Some(_)) = (module.get(shared), target.get(shared)) {
                let arrow = (module[..=shared].join("/"), target[..=shared].join("/"));
                arrows.entry(arrow).or_insert_with(|| format!("{} in {}", named.join("::"), path.display()));
            }
        }
    }
    arrows
}

/// The files below a folder, except tests, with their modules.
fn modules(folder: &Path, module: &Module) -> Vec<(Module, PathBuf)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("a readable folder").path();
        let name = path.file_stem().and_then(|stem| stem.to_str()).expect("a name").to_owned();
        let is_file = path.extension().is_some_and(|extension| extension == "rs");
        let inner: Module = match name.as_str() {
            "tests" => continue,
            "mod" | "lib" | "main" if is_file => module.clone(),
            _ => module.iter().cloned().chain([name]).collect(),
        };
        if path.is_dir() {
            found.extend(modules(&path, &inner));
        } else if is_file {
            found.push((inner, path));
        }
    }
    found
}

/// Collects every path within the crate that a file names, relative to the root of the crate.
struct Names {
    module: Module,
    found: BTreeSet<Module>,
}

impl Names {
    fn name(&mut self, path: &[String]) {
        let mut from = match path.first().map(String::as_str) {
            Some("crate") => Vec::new(),
            Some("self" | "super") => self.module.clone(),
            _ => return,
        };
        for segment in path {
            match segment.as_str() {
                "crate" | "self" => {}
                "super" => drop(from.pop()),
                _ => from.push(segment.clone()),
            }
        }
        self.found.insert(from);
    }

    fn name_tree(&mut self, prefix: &[String], tree: &syn::UseTree) {
        let with = |name: &syn::Ident| prefix.iter().cloned().chain([name.to_string()]).collect::<Vec<_>>();
        match tree {
            syn::UseTree::Path(path) => self.name_tree(&with(&path.ident), &path.tree),
            syn::UseTree::Name(name) => self.name(&with(&name.ident)),
            syn::UseTree::Rename(rename) => self.name(&with(&rename.ident)),
            syn::UseTree::Glob(_) => self.name(prefix),
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| self.name_tree(prefix, tree)),
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

impl<'ast> Visit<'ast> for Names {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let attributes = match item {
            syn::Item::Fn(item) => &item.attrs,
            syn::Item::Impl(item) => &item.attrs,
            syn::Item::Mod(item) => &item.attrs,
            syn::Item::Use(item) => &item.attrs,
            _ => return syn::visit::visit_item(self, item),
        };
        if !is_for_tests(attributes) {
            syn::visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.module.push(item.ident.to_string());
        syn::visit::visit_item_mod(self, item);
        self.module.pop();
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.name_tree(&[], &item.tree);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<_> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.name(&names);
        syn::visit::visit_path(self, path);
    }
}

/// The arrows of one cycle, or None.
fn cycle(arrows: &BTreeMap<Arrow, String>) -> Option<Vec<Arrow>> {
    let mut done = BTreeSet::new();
    for (start, _) in arrows.keys() {
        let mut path = Vec::new();
        if let Some(cycle) = follow(start, arrows, &mut done, &mut path) {
            return Some(cycle);
        }
    }
    None
}

/// Depth-first search from `at`; `path` holds the arrows to `at`, `done` the modules on no cycle.
fn follow(
    at: &str,
    arrows: &BTreeMap<Arrow, String>,
    done: &mut BTreeSet<String>,
    path: &mut Vec<Arrow>,
) -> Option<Vec<Arrow>> {
    if let Some(first) = path.iter().position(|(from, _)| from == at) {
        return Some(path.split_off(first));
    }
    if done.contains(at) {
        return None;
    }
    for arrow in arrows.keys().filter(|(from, _)| from == at) {
        path.push(arrow.clone());
        if let Some(cycle) = follow(&arrow.1, arrows, done, path) {
            return Some(cycle);
        }
        path.pop();
    }
    done.insert(at.to_owned());
    None
}

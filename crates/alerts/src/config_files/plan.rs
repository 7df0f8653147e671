//! Plans the requests after which a server equals the files.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::compare::{Change, Comparison};
use super::files::Files;
use super::kinds::Kind;
use super::names::{self, Entry, Found, Names};
use super::server::{Stored, World};
use super::{Faults, Variables};

/// What a plan may do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// Deletes objects of the kinds of the files that no file describes.
    pub prunes: bool,
    /// Sends secrets again, which cannot be compared.
    pub with_secrets: bool,
}

/// What to do with one object.
#[derive(Debug)]
pub enum Action {
    /// `POST`.
    Create,
    /// `PUT`.
    Change {
        /// The id.
        id: Value,
        /// What differs.
        changes: Vec<Change>,
        /// The object on the server, with names.
        server: Map<String, Value>,
    },
    /// `DELETE`.
    Delete {
        /// The id.
        id: Value,
    },
}

/// One request.
#[derive(Debug)]
pub struct Step {
    /// The kind of the object.
    pub kind: &'static Kind,
    /// Kind and name, for people.
    pub title: String,
    /// What to do.
    pub action: Action,
    /// What the file says, with names and references to secrets.
    pub file: Map<String, Value>,
    /// Its position in the files.
    pub described: Option<usize>,
}

/// What to send, in order.
#[derive(Debug, Default)]
pub struct Plan {
    /// The requests: what is named precedes what names it.
    pub steps: Vec<Step>,
    /// Number of objects that are as the files say.
    pub unchanged: usize,
    /// Objects that no file describes, and that stay.
    pub others: Vec<String>,
    /// What names in files stand for.
    pub names: Names,
}

/// Compares files with a server.
pub fn plan(world: &World, files: &Files, options: Options, variables: Variables<'_>) -> Result<Plan, Faults> {
    let mut faults = Vec::new();
    let stored = match_up(world, files, &mut faults);
    let is_described = |one: &Stored| stored.iter().flatten().any(|other| std::ptr::eq(*other, one));
    let is_of_files = |one: &Stored| files.kinds.iter().any(|kind| kind.listing == one.kind.listing);
    let others: Vec<&Stored> = world.stored.iter().filter(|one| is_of_files(one) && !is_described(one)).collect();
    let names = names_after(world, files, &stored, if options.prunes { &others } else { &[] });

    let mut plan = Plan::default();
    let mut steps: Vec<Option<Step>> = Vec::new();
    let mut needs: Vec<BTreeSet<usize>> = Vec::new();
    for (index, described) in files.described.iter().enumerate() {
        let (kind, mut needed) = (described.kind, BTreeSet::new());
        let named = names::to_ids(kind, &mut described.fields.clone(), |list, given, path| {
            match names.find(list, &given) {
                Ok(Found::Entry(entry)) => needed.extend(entry.described),
                Ok(Found::Id(_)) => {}
                Err(message) => faults.push(described.fault(path, &message)),
            }
            Ok::<_, ()>(given)
        });
        named.expect("faults are collected");
        needs.push(needed);
        let title = kind.listing.title(&described.fields);
        let file = described.fields.clone();
        let step = |action| Some(Step { kind, title, action, file, described: Some(index) });
        let Some(stored) = stored[index] else {
            steps.push(step(Action::Create));
            continue;
        };
        let mut server = stored.fields.clone();
        names::to_names(kind, &mut server, &names);
        let with_secrets = options.with_secrets;
        let mut comparison = Comparison { kind, variables, with_secrets, changes: Vec::new(), faults: Vec::new() };
        comparison.objects(&described.fields, &server);
        faults.extend(comparison.faults.iter().map(|(path, message)| described.fault(path, message)));
        let changes = comparison.changes;
        if changes.is_empty() {
            plan.unchanged += 1;
            steps.push(None);
        } else {
            steps.push(step(Action::Change { id: stored.id.clone(), changes, server }));
        }
    }
    if faults.is_empty() {
        plan.steps = in_order(steps, &needs, files, &mut faults);
    }
    if options.prunes {
        plan.steps.extend(deletions(&others));
    } else {
        plan.others = others.iter().map(|one| one.kind.listing.title(&one.fields)).collect();
    }
    plan.names = names;
    if faults.is_empty() { Ok(plan) } else { Err(Faults(faults)) }
}

/// The object of the server for each of the files: by id, else by name.
fn match_up<'a>(world: &'a World, files: &Files, faults: &mut Vec<String>) -> Vec<Option<&'a Stored>> {
    let by_id = files.described.iter().map(|one| world.of(one.kind).find(|stored| Some(&stored.id) == one.id.as_ref()));
    let by_id: Vec<Option<&Stored>> = by_id.collect();
    let mut matched = by_id.clone();
    for (described, slot) in files.described.iter().zip(&mut matched).filter(|(_, slot)| slot.is_none()) {
        let listing = &described.kind.listing;
        let identity = listing.identity(&described.fields);
        let is_free = |stored: &&Stored| !by_id.iter().flatten().any(|other| std::ptr::eq(*other, *stored));
        let of_name = world.of(described.kind).filter(is_free);
        let of_name: Vec<_> = of_name.filter(|stored| listing.identity(&stored.fields) == identity).collect();
        match of_name.as_slice() {
            [] => {}
            [one] => *slot = Some(*one),
            several => {
                let ids: Vec<_> = several.iter().map(|stored| stored.id.to_string()).collect();
                let title = listing.title(&described.fields);
                let message = format!("the server has {title} more than once: give the id, one of {}", ids.join(", "));
                faults.push(described.fault(&[], &message));
            }
        }
    }
    matched
}

/// What names stand for once the server is as the files say.
fn names_after(world: &World, files: &Files, matched: &[Option<&Stored>], deleted: &[&Stored]) -> Names {
    let mut names = Names::default();
    for (index, (described, stored)) in files.described.iter().zip(matched).enumerate() {
        let listing = &described.kind.listing;
        names.add(
            listing.name,
            Entry {
                name: listing.label(&described.fields),
                id: stored.map(|stored| stored.id.clone()),
                described: Some(index),
                is_deleted: false,
            },
        );
    }
    for (list, named) in &world.named {
        for (id, name) in named {
            let is_this = |stored: &&Stored| stored.kind.listing.name == *list && stored.id == *id;
            if !matched.iter().flatten().any(&is_this) {
                let is_deleted = deleted.iter().any(is_this);
                names.add(list, Entry { name: name.clone(), id: Some(id.clone()), described: None, is_deleted });
            }
        }
    }
    names
}

/// The steps, with those that create what another names before it.
fn in_order(
    mut steps: Vec<Option<Step>>,
    needs: &[BTreeSet<usize>],
    files: &Files,
    faults: &mut Vec<String>,
) -> Vec<Step> {
    let mut order: Vec<usize> = (0..steps.len()).collect();
    let position = |kind: &Kind| files.kinds.iter().position(|known| known.listing == kind.listing);
    order.sort_by_key(|index| (position(files.described[*index].kind), *index));
    let is_new = |index: usize| matches!(&steps[index], Some(Step { action: Action::Create, .. }));
    let mut sorted: Vec<usize> = Vec::new();
    let mut path: Vec<usize> = Vec::new();
    // Each pass of the inner loop finishes an object, or goes to one that it names.
    for start in order {
        path.push(start);
        while let Some(index) = path.last().copied() {
            let next = needs[index].iter().copied().find(|needed| is_new(*needed) && !sorted.contains(needed));
            match next {
                Some(next) if path.contains(&next) => {
                    let described = &files.described[next];
                    let title = described.kind.listing.title(&described.fields);
                    faults.push(described.fault(&[], &format!("{title} names itself, through what it names")));
                    return Vec::new();
                }
                Some(next) => path.push(next),
                None => {
                    path.pop();
                    if !sorted.contains(&index) {
                        sorted.push(index);
                    }
                }
            }
        }
    }
    sorted.into_iter().filter_map(|index| steps[index].take()).collect()
}

/// The deletions, with what names another before it.
fn deletions(others: &[&Stored]) -> Vec<Step> {
    let named: Vec<_> = others.iter().map(|one| names::ids(one.kind, &one.fields)).collect();
    let is_named_by = |index: usize, by: usize| {
        let (list, id) = (others[index].kind.listing.name, &others[index].id);
        named[by].iter().any(|(of, named)| *of == list && named == id)
    };
    let mut left: Vec<usize> = (0..others.len()).collect();
    let mut steps = Vec::new();
    while !left.is_empty() {
        let is_free = |index: &usize| !left.iter().any(|by| by != index && is_named_by(*index, *by));
        // The server decides about objects that name each other.
        let next = left.iter().position(is_free).unwrap_or_default();
        let one = others[left.remove(next)];
        let title = one.kind.listing.title(&one.fields);
        let action = Action::Delete { id: one.id.clone() };
        steps.push(Step { kind: one.kind, title, action, file: Map::new(), described: None });
    }
    steps
}

impl Plan {
    /// Whether the server is as the files say.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The plan for people, line by line.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut counts = [0; 3];
        for step in &self.steps {
            match &step.action {
                Action::Create => {
                    counts[0] += 1;
                    lines.push(format!("+ {}", step.title));
                }
                Action::Change { changes, .. } => {
                    counts[1] += 1;
                    match changes.as_slice() {
                        [change] => lines.push(format!("~ {}: {change}", step.title)),
                        changes => {
                            lines.push(format!("~ {}:", step.title));
                            lines.extend(changes.iter().map(|change| format!("    {change}")));
                        }
                    }
                }
                Action::Delete { .. } => {
                    counts[2] += 1;
                    lines.push(format!("- {}", step.title));
                }
            }
        }
        lines.extend(self.others.iter().map(|title| format!("  {title} is in no file; --prune deletes it")));
        let [create, change, delete] = counts;
        let unchanged = self.unchanged;
        lines.push(format!("{create} to create, {change} to change, {delete} to delete, {unchanged} unchanged"));
        lines
    }
}

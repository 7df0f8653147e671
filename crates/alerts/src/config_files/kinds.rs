//! The kinds of objects that files describe: where they are on the server, what a file may say about them, and how they
//! name each other.

/// A list of things that have names.
#[derive(Debug, PartialEq, Eq)]
pub struct Listing {
    /// The name: the key in files, and the beginning of the name of the file.
    pub name: &'static str,
    /// One of them, for people.
    pub one: &'static str,
    /// The path of the list. `{organization}` stands for the id of the organization; all others are of the project.
    pub path: &'static str,
    /// The key of the list in the answer; empty: the answer is the list.
    pub key: &'static str,
    /// The key of the id of each.
    pub id: &'static str,
    /// The keys whose values identify one of the list for people.
    pub identity: &'static [&'static str],
}

/// A kind of objects that files describe. `POST` to the path of the list creates one; `PUT` and `DELETE` to the path and
/// the id change and delete it.
#[derive(Debug)]
pub struct Kind {
    /// The list of the objects.
    pub listing: Listing,
    /// The keys of the object that a file may have, as the requests have them.
    pub owned: &'static [&'static str],
    /// Owned keys of requests that answers have in another form.
    pub flattened: &'static [Flattened],
    /// Values that only references to secrets may stand for.
    pub secrets: &'static [&'static str],
    /// Maps whose keys users choose: a key that the file does not have is deleted.
    pub open: &'static [&'static str],
    /// References of objects to others.
    pub references: &'static [Reference],
    /// Objects of the list whose key has another value are left alone; requests have the value.
    pub only: Option<(&'static str, bool)>,
    /// An owned boolean that `POST` to the path of the object and this name inverts.
    pub toggle: Option<(&'static str, &'static str)>,
}

/// An owned list of ids that answers have as a list of objects.
#[derive(Debug)]
pub struct Flattened {
    /// The key in requests.
    pub owned: &'static str,
    /// The key in answers.
    pub answered: &'static str,
    /// The key of the id in each object of the answer.
    pub id: &'static str,
}

/// An id, or a list of ids, in an object: files have names instead.
#[derive(Debug)]
pub struct Reference {
    /// The map that has it: keys from the object, joined by dots; `*` is each item. Empty: the object.
    pub inside: &'static str,
    /// The key in requests and answers.
    pub id: &'static str,
    /// The key in files.
    pub name: &'static str,
    /// Target of the reference.
    pub to: Target,
}

/// Target of a reference.
#[derive(Debug)]
pub enum Target {
    /// Something of this list.
    One(&'static str),
    /// Lists by the key `type` beside it: its values with their lists.
    ByType(&'static [(&'static str, &'static str)]),
}

/// The kinds, in the order of files and plans.
pub static KINDS: &[Kind] = &[
    Kind {
        owned: &["name", "channelType", "config"],
        // Of all types (WIRE 7).
        secrets: &[
            "config.secret",
            "config.webhookUrl",
            "config.token",
            "config.userKey",
            "config.appToken",
            "config.botToken",
            "config.routingKey",
            "config.apiKey",
            "config.headers.*",
        ],
        open: &["config.headers"],
        references: &[Reference {
            inside: "config",
            id: "policyId",
            name: "policy",
            to: Target::One("escalation-policies"),
        }],
        ..kind_at("channels", "channel", "/api/notification-channels", "channels")
    },
    Kind {
        owned: &["name", "ruleType", "config", "cooldownMinutes", "severity", "enabled", "channelId"],
        references: &[
            Reference { inside: "", id: "channelId", name: "channel", to: Target::One("channels") },
            Reference { inside: "config", id: "checkIds", name: "monitors", to: Target::One("monitors") },
        ],
        toggle: Some(("enabled", "toggle")),
        ..kind_at("rules", "rule", "/api/notification-rules", "rules")
    },
    Kind {
        owned: &["name", "checkType", "enabled", "intervalSeconds", "timeoutSeconds", "failureThreshold", "config"],
        secrets: &["config.auth.password", "config.auth.token", "config.auth.headerValue"],
        open: &["config.headers"],
        ..kind_at("monitors", "monitor", "/api/synthetics/checks", "checks")
    },
    Kind {
        owned: &["name", "slug", "isPublic", "description", "customDomain", "checkIds", "groups"],
        references: &[
            Reference { inside: "", id: "checkIds", name: "monitors", to: Target::One("monitors") },
            Reference { inside: "groups.*", id: "checkIds", name: "monitors", to: Target::One("monitors") },
        ],
        ..kind_at("status-pages", "status page", "/api/organizations/{organization}/status-pages", "statusPages")
    },
    Kind {
        owned: &["name", "description", "memberIds", "projectIds"],
        flattened: &[
            Flattened { owned: "memberIds", answered: "members", id: "userId" },
            Flattened { owned: "projectIds", answered: "projects", id: "projectId" },
        ],
        references: &[
            Reference { inside: "", id: "memberIds", name: "members", to: Target::One("people") },
            Reference { inside: "", id: "projectIds", name: "projects", to: Target::One("projects") },
        ],
        ..kind_at("teams", "team", "/api/organizations/{organization}/teams", "teams")
    },
    Kind {
        owned: &["name", "description", "timezone", "definition", "teamId"],
        references: &[
            Reference { inside: "", id: "teamId", name: "team", to: Target::One("teams") },
            Reference { inside: "definition.layers.*", id: "userIds", name: "people", to: Target::One("people") },
        ],
        ..kind_at("schedules", "schedule", "/api/organizations/{organization}/schedules", "schedules")
    },
    Kind {
        owned: &["name", "definition"],
        references: &[Reference {
            inside: "definition.steps.*.targets.*",
            id: "id",
            name: "name",
            to: Target::ByType(&[
                ("schedule", "schedules"),
                ("team", "teams"),
                ("user", "people"),
                ("channel", "channels"),
            ]),
        }],
        ..kind_at(
            "escalation-policies",
            "escalation policy",
            "/api/organizations/{organization}/escalation-policies",
            "policies",
        )
    },
    Kind {
        listing: Listing {
            identity: &["page", "name"],
            ..kind_at("saved-views", "saved view", "/api/saved-views", "data").listing
        },
        owned: &["page", "name", "search"],
        // Private views are their owners' alone.
        only: Some(("shared", true)),
        ..kind_at("saved-views", "saved view", "/api/saved-views", "data")
    },
];

/// Lists that are named in files, and not described by them.
pub static NAMED: &[Listing] = &[
    Listing {
        name: "people",
        one: "member",
        path: "/api/organizations/{organization}/members",
        key: "",
        id: "userId",
        identity: &["email"],
    },
    Listing { name: "projects", one: "project", path: "/api/projects", key: "", id: "id", identity: &["name"] },
];

/// A kind without properties of its own.
const fn kind_at(name: &'static str, one: &'static str, path: &'static str, key: &'static str) -> Kind {
    Kind {
        listing: Listing { name, one, path, key, id: "id", identity: &["name"] },
        owned: &[],
        flattened: &[],
        secrets: &[],
        open: &[],
        references: &[],
        only: None,
        toggle: None,
    }
}

/// The kind of a name.
pub fn kind(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.listing.name == name)
}

/// The list of a name.
pub fn listing(name: &str) -> Option<&'static Listing> {
    kind(name).map(|kind| &kind.listing).or_else(|| NAMED.iter().find(|listing| listing.name == name))
}

impl Kind {
    /// The lists that its objects may name.
    pub fn named(&self) -> impl Iterator<Item = &'static str> {
        self.references.iter().flat_map(|reference| match &reference.to {
            Target::One(name) => vec![*name],
            Target::ByType(types) => types.iter().map(|(_, name)| *name).collect(),
        })
    }

    /// The name of the file of an export.
    pub fn file_name(&self) -> String {
        format!("{}.yaml", self.listing.name)
    }

    /// The keys that an object may have in a file.
    pub fn file_keys(&self) -> Vec<&'static str> {
        let in_file = |key: &&'static str| {
            let reference = self.references.iter().find(|one| one.inside.is_empty() && one.id == *key);
            reference.map_or(*key, |reference| reference.name)
        };
        self.owned.iter().map(in_file).collect()
    }

    /// Whether the value at a path is a secret on any server.
    pub fn is_secret(&self, path: &[String]) -> bool {
        self.secrets.iter().any(|pattern| matches(pattern, path))
    }

    /// Whether the map at a path has keys that users choose.
    pub fn is_open(&self, path: &[String]) -> bool {
        self.open.iter().any(|pattern| matches(pattern, path))
    }
}

impl Target {
    /// The list of a reference in `container`. `None`: its type is unknown.
    pub fn list_of(&self, container: &serde_json::Map<String, serde_json::Value>) -> Option<&'static str> {
        match self {
            Target::One(name) => Some(name),
            Target::ByType(types) => {
                let chosen = container.get("type")?.as_str()?;
                types.iter().find(|(name, _)| *name == chosen).map(|(_, list)| *list)
            }
        }
    }
}

/// Whether a path fits a pattern of keys joined by dots, where `*` is any key or index.
fn matches(pattern: &str, path: &[String]) -> bool {
    let mut steps = path.iter();
    pattern.split('.').all(|part| steps.next().is_some_and(|step| part == "*" || part == step))
        && steps.next().is_none()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::fields::FieldKind;

    #[test]
    fn what_kinds_name_exists() {
        for kind in KINDS {
            let name = kind.listing.name;
            for named in kind.named() {
                assert!(listing(named).is_some(), "{name} names {named}");
            }
            for key in kind.listing.identity {
                assert!(kind.owned.contains(key), "{name} owns {key}");
            }
            let top = |pattern: &&str| pattern.split('.').next().unwrap_or_default().to_owned();
            let keys = kind.secrets.iter().chain(kind.open).map(top);
            let keys = keys.chain(kind.flattened.iter().map(|one| one.owned.to_owned()));
            for key in keys.chain(kind.toggle.map(|(key, _)| key.to_owned())) {
                assert!(kind.owned.contains(&key.as_str()), "{name} owns {key}");
            }
            for reference in kind.references.iter().filter(|reference| reference.inside.is_empty()) {
                assert!(kind.owned.contains(&reference.id), "{name} owns {}", reference.id);
            }
        }
    }

    #[test]
    fn secrets_are_those_of_the_types() {
        let described = [("channels", crate::channels::types::types()), ("monitors", crate::monitors::types::types())];
        for (name, described) in described {
            let fields = described.types.into_iter().flat_map(|one| one.fields);
            let secrets: BTreeSet<String> = fields
                .filter(|field| field.kind == FieldKind::Secret)
                .map(|field| format!("config.{}", field.key))
                .collect();
            let listed = kind(name).expect(name).secrets.iter().map(|pattern| (*pattern).to_owned());
            assert_eq!(listed.filter(|pattern| !pattern.ends_with('*')).collect::<BTreeSet<_>>(), secrets, "{name}");
        }
    }

    #[test]
    fn patterns_fit_paths() {
        let path = |path: &str| path.split('/').map(str::to_owned).collect::<Vec<_>>();
        for (pattern, given, expected) in [
            ("config.secret", "config/secret", true),
            ("config.secret", "config", false),
            ("config.secret", "config/secret/x", false),
            ("config.headers.*", "config/headers/X-Api.Key", true),
            ("config.headers.*", "config/headers", false),
        ] {
            assert_eq!(matches(pattern, &path(given)), expected, "{pattern} {given}");
        }
    }
}

use super::*;

#[test]
fn tokens_are_limited_to_their_scope() {
    let (one, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
    let token = |level, projects| Via::Token(Arc::new(Scope { level, projects }));
    let all = |level| token(level, None);
    use ScopeLevel::{Admin, Read, Write};
    for (via, needed, about, expected) in [
        (Via::Login, None, About::Organization, true),
        (all(Admin), None, About::Anything, false),
        (all(Read), Some(Read), About::Project(one), true),
        (all(Read), Some(Write), About::Project(one), false),
        (all(Write), Some(Admin), About::Organization, false),
        (all(Admin), Some(Write), About::Person, true),
        (token(Admin, Some(vec![one])), Some(Admin), About::Project(one), true),
        (token(Admin, Some(vec![one])), Some(Read), About::Project(other), false),
        (token(Admin, Some(vec![one])), Some(Read), About::Organization, false),
        (token(Admin, Some(vec![one])), Some(Read), About::Person, true),
        (token(Admin, Some(vec![one])), Some(Write), About::Person, false),
        (token(Read, Some(vec![])), Some(Read), About::Project(one), false),
    ] {
        assert_eq!(permit(&via, needed, about).is_ok(), expected, "{via:?} {needed:?} {about:?}");
    }
}

#[test]
fn bearer_tokens() {
    for (header, expected) in [
        ("Bearer abc", Some("abc")),
        ("bearer abc", Some("abc")),
        ("BEARER  abc ", Some("abc")),
        ("Bearer ", None),
        ("Bearer", None),
        ("Basic abc", None),
        ("abc", None),
        ("", None),
    ] {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, header.parse().unwrap());
        assert_eq!(bearer(&headers), expected, "{header:?}");
    }
    assert_eq!(bearer(&HeaderMap::new()), None);
}

#[test]
fn project_ids() {
    for (uri, expected) in [
        ("/x?projectId=a1a2a3a4-b1b2-c1c2-d1d2-d3d4d5d6d7d8", Ok(())),
        ("/x?a=1&projectId=a1a2a3a4b1b2c1c2d1d2d3d4d5d6d7d8", Ok(())),
        ("/x", Err("projectId is missing")),
        ("/x?project=1", Err("projectId is missing")),
        ("/x?projectId=", Err("projectId is not a UUID")),
        ("/x?projectId=7", Err("projectId is not a UUID")),
    ] {
        let found = project_id(&uri.parse().unwrap()).map(|_| ()).map_err(|error| error.to_string());
        assert_eq!(found, expected.map_err(str::to_owned), "{uri}");
    }
}

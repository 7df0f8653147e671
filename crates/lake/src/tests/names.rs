//! The limit on the names of a service per day: names beyond it become one, and the same names after a crash.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::Int64Type;
use proptest::prelude::*;
use tidewatch_journal::Position;

use super::support::*;
use crate::{Lake, LakeOptions, OTHER_NAME};
use tidewatch_store::columns::{NO_KEY, Rows};
use tidewatch_store::plan::{Key, Plan, Shape};
use tidewatch_store::tables::Table;

/// One Endpoint of a test request: service, name, time.
type Named = (&'static str, &'static str, i64);

const NAMES: [&str; 6] = ["GET /a", "GET /b", "GET /c", "GET /d", "GET /e", "GET /f"];

fn open(bench: &Bench, names_max: usize) -> Lake {
    Lake::open(LakeOptions { names_max, ..bench.options() }).expect("the lake opens")
}

/// Rows of these Endpoints; `number` makes their ids unique.
fn named(project: u32, number: u8, endpoints: &[Named]) -> Rows {
    let spans: Vec<TestSpan> = (1..).zip(endpoints).map(|(n, (_, _, time))| span(number, n, *time)).collect();
    let names: Vec<(&str, &str)> = endpoints.iter().map(|(service, name, _)| (*service, *name)).collect();
    request_named(project, &spans, &names)
}

/// The number of rows of each service and name, by day.
fn stored(lake: &Lake, table: Table) -> BTreeMap<(i64, String, String), usize> {
    let mut stored = BTreeMap::new();
    for batch in batches(lake, table) {
        let text = |batch: &RecordBatch, name: &str| {
            batch.column_by_name(name).expect("the table has the column").as_string::<i32>().clone()
        };
        let (services, names) = (text(&batch, "server_name"), text(&batch, "name"));
        let times = batch.column_by_name("time").expect("the table has a time").as_primitive::<Int64Type>().clone();
        for row in 0..batch.num_rows() {
            let day = (times.value(row) - TODAY_NS).div_euclid(DAY_NS);
            *stored.entry((day, services.value(row).to_owned(), names.value(row).to_owned())).or_default() += 1;
        }
    }
    stored
}

#[test]
fn names_beyond_the_limit_become_one_by_service_and_day_and_are_counted() {
    let bench = Bench::new(1);
    let lake = open(&bench, 2);
    let shop = |name, time| ("shop", name, time);
    lake.apply(Position(1), NO_KEY, TODAY_NS, named(1, 1, &[shop("GET /a", TODAY_NS), shop("GET /b", TODAY_NS)]));
    lake.apply(
        Position(2),
        NO_KEY,
        TODAY_NS,
        named(1, 2, &[shop("GET /c", TODAY_NS), shop("GET /a", TODAY_NS), shop("GET /d", TODAY_NS + 1)]),
    );
    lake.apply(
        Position(3),
        NO_KEY,
        TODAY_NS,
        named(1, 3, &[("pay", "GET /c", TODAY_NS), shop("GET /c", TODAY_NS - DAY_NS), shop("GET /a", TODAY_NS)]),
    );
    // Another project.
    lake.apply(Position(4), NO_KEY, TODAY_NS, named(2, 4, &[shop("GET /e", TODAY_NS)]));
    let expected = [
        ((-1, "shop", "GET /c"), 1),
        ((0, "pay", "GET /c"), 1),
        ((0, "shop", OTHER_NAME), 2),
        ((0, "shop", "GET /a"), 3),
        ((0, "shop", "GET /b"), 1),
        ((0, "shop", "GET /e"), 1),
    ];
    let expected: BTreeMap<_, _> =
        expected.map(|((day, service, name), rows)| ((day, service.to_owned(), name.to_owned()), rows)).into();
    assert_eq!(stored(&lake, Table::Endpoints), expected);
    assert_eq!((counted(&lake, "trimmed", "too_many_names"), counted(&lake, "kept", "")), (2, 9));
    lake.flush().expect("the disk takes it");
    assert_eq!(stored(&lake, Table::Endpoints), expected);
    // Dictionaries of parts do not list a name that no row has either.
    let shape = Shape::Groups {
        keys: vec![Key::column("name")],
        aggregates: vec![],
        order: vec![],
        limit: usize::MAX,
        offset: 0,
    };
    let listed =
        lake.execute(&Plan { shape, ..everything(Table::Endpoints) }, Instant::now() + Duration::from_secs(600));
    let listed = listed.expect("the plan is good").column(0).as_string::<i32>().clone();
    let listed: Vec<&str> = listed.iter().flatten().collect();
    assert_eq!(listed, [OTHER_NAME, "GET /a", "GET /b", "GET /c", "GET /e"]);
}

/// A sender can invent services as well as names, so all services of a project together have a limit per day.
#[test]
fn all_services_of_a_project_have_a_common_limit() {
    let bench = Bench::new(1);
    let lake = open(&bench, 1);
    let services: Vec<String> = (0..102).map(|number| format!("service {number}")).collect();
    let names: Vec<(&str, &str)> = services.iter().map(|service| (service.as_str(), "GET /a")).collect();
    let spans: Vec<TestSpan> = (1..=102).map(|number| span(1, number, TODAY_NS)).collect();
    lake.apply(Position(1), NO_KEY, TODAY_NS, request_named(1, &spans, &names));
    // Another project has its own.
    lake.apply(Position(2), NO_KEY, TODAY_NS, request_named(2, &spans[..1], &names[..1]));
    let stored = stored(&lake, Table::Endpoints);
    let others: usize = stored.iter().filter(|((_, _, name), _)| name == OTHER_NAME).map(|(_, rows)| rows).sum();
    assert_eq!((others, counted(&lake, "trimmed", "too_many_names")), (2, 2));
}

/// A retry is stored once, under its first name, and does not count towards the limit.
#[test]
fn a_retried_record_does_not_count_towards_the_limit() {
    let bench = Bench::new(1);
    let lake = open(&bench, 2);
    for position in [1, 2] {
        lake.apply(Position(position), 7, TODAY_NS, named(1, 1, &[("shop", "GET /a", TODAY_NS)]));
    }
    // The same span with another name: a duplicate.
    lake.apply(Position(3), 8, TODAY_NS, named(1, 1, &[("shop", "GET /b", TODAY_NS)]));
    lake.apply(Position(4), 9, TODAY_NS, named(1, 2, &[("shop", "GET /c", TODAY_NS)]));
    let names: Vec<String> = stored(&lake, Table::Endpoints).into_keys().map(|(_, _, name)| name).collect();
    assert_eq!(names, ["GET /a", "GET /c"]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Flushes, merges, restarts and crashes at any point change no name, and neither does a start with another limit:
    /// each request has its own limit.
    #[test]
    fn a_replay_stores_the_names_of_the_run_before(
        requests in proptest::collection::vec(
            (proptest::collection::vec((0..2_usize, 0..6_usize, 0..2_i64), 1..5), 0..6_u8, 0..4_usize),
            1..30,
        ),
        other_limit in 0..4_usize,
    ) {
        let rows = |number: usize| {
            let endpoints: Vec<Named> = requests[number].0.iter().map(|(service, name, day)| {
                (["shop", "pay"][*service], NAMES[*name], TODAY_NS - day * DAY_NS)
            }).collect();
            named(1, number as u8 + 1, &endpoints).with_names_max(Some(requests[number].2))
        };
        let undisturbed = Bench::new(1);
        let expected = open(&undisturbed, 3);
        for n in 0..requests.len() {
            expected.apply(Position(n as u64 + 1), NO_KEY, TODAY_NS, rows(n));
        }

        let bench = Bench::new(2);
        let mut lake = open(&bench, 3);
        for (n, (_, then, _)) in requests.iter().enumerate() {
            lake.apply(Position(n as u64 + 1), NO_KEY, TODAY_NS, rows(n));
            match then {
                0 => lake.flush().expect("the disk takes it"),
                1 => drop(lake.merge(TODAY_NS + 9 * DAY_NS).expect("the disk takes it")),
                2 => {
                    drop(lake);
                    lake = open(&bench, other_limit);
                    let covered = lake.covered().0;
                    for again in covered..=n as u64 {
                        lake.apply(Position(again + 1), NO_KEY, TODAY_NS, rows(again as usize));
                    }
                }
                _ => {}
            }
        }
        prop_assert_eq!(stored(&lake, Table::Endpoints), stored(&expected, Table::Endpoints));
    }
}

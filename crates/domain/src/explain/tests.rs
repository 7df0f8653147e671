//! Incidents with a known cause, and the properties that hold for every table.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::score::Baseline;
use super::*;

/// A request of the generator: its attributes, its duration, and when it was.
struct Request {
    attributes: Vec<(&'static str, String)>,
    size: f64,
    slow: bool,
    minute: u32,
}

/// Requests of 120 minutes, the last 40 of them selected; `is_hit` says which requests of the last 40 are slow.
fn incident(seed: u64, is_hit: impl Fn(&Request, &mut fastrand::Rng) -> bool) -> Table {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut requests = Vec::new();
    for number in 0..12_000_u32 {
        let minute = random.u32(0..120);
        let (tenant, region) = (random.u32(0..12).min(random.u32(0..12)), random.u32(0..3));
        let rolled_out = minute >= 60 && random.u32(0..120) < minute;
        let version = if rolled_out { "1.42.0" } else { "1.41.0" };
        let attributes = vec![
            ("service.version", version.to_owned()),
            ("vcs.commit", format!("commit-of-{version}")),
            ("tenant.id", format!("tenant-{tenant}")),
            ("tenant.plan", if tenant % 4 == 0 { "large" } else { "small" }.to_owned()),
            ("cloud.region", format!("eu-{region}")),
            ("host.name", format!("host-{region}-{}", random.u32(0..4))),
            ("user.id", format!("user-{}", random.u32(0..4000))),
            ("request.id", format!("request-{number}")),
            ("flag.new_price", if random.bool() { "on" } else { "off" }.to_owned()),
            ("noise", format!("{}", random.u32(0..5))),
            ("constant", "same".to_owned()),
        ];
        let size = (random.f64() * 12.0).exp2() * 100.0;
        let mut request = Request { attributes, size, slow: false, minute };
        request.slow = random.f64() < 0.03 || (minute >= 80 && is_hit(&request, &mut random));
        requests.push(request);
    }
    table(&requests)
}

fn table(requests: &[Request]) -> Table {
    let sets = requests.iter().map(|request| match (request.minute >= 80, request.slow) {
        (true, true) => Set::Selected,
        (true, false) => Set::Rest,
        (false, true) => Set::SelectedBefore,
        (false, false) if request.minute >= 75 => Set::RestJustBefore,
        (false, false) => Set::RestBefore,
    });
    let keys: Vec<&str> = requests[0].attributes.iter().map(|(key, _)| *key).collect();
    let mut columns: Vec<Column> = keys
        .iter()
        .enumerate()
        .map(|(place, key)| Column::strings(*key, requests.iter().map(|request| Some(&request.attributes[place].1))))
        .collect();
    columns.push(Column::numbers("request.body.size", requests.iter().map(|request| request.size).collect()));
    Table { sets: sets.collect(), rates: SampleRates::ALL, columns }
}

/// A condition as `key = value`.
fn shown(table: &Table, condition: Condition) -> String {
    let operator = match condition.predicate {
        Predicate::Is(_) => "=",
        Predicate::Absent => "is absent",
        Predicate::AtLeast(_) => ">=",
        Predicate::LessThan(_) => "<",
    };
    let value = table.value(condition).map(|value| format!(" {value}")).unwrap_or_default();
    format!("{} {operator}{value}", table.columns[condition.column].name)
}

fn rows(table: &Table) -> Vec<String> {
    let row = |row: &Row| row.conditions.iter().map(|one| shown(table, *one)).collect::<Vec<_>>().join(" and ");
    explain(table).rows.iter().map(row).collect()
}

fn has(request: &Request, key: &str, value: &str) -> bool {
    request.attributes.iter().any(|(own, text)| *own == key && text == value)
}

/// One seed of an incident, and whether a request of the selected minutes is hit.
type Hit = fn(&Request, &mut fastrand::Rng) -> bool;

#[test]
fn the_cause_is_the_first_row() {
    let table: &[(&str, Hit)] = &[
        ("service.version = 1.42.0", |request, random| has(request, "service.version", "1.42.0") && random.f64() < 0.6),
        ("tenant.id = tenant-1", |request, random| has(request, "tenant.id", "tenant-1") && random.f64() < 0.7),
        ("cloud.region = eu-2", |request, random| has(request, "cloud.region", "eu-2") && random.f64() < 0.5),
        ("host.name = host-1-2", |request, random| has(request, "host.name", "host-1-2") && random.f64() < 0.7),
        ("flag.new_price = on", |request, random| has(request, "flag.new_price", "on") && random.f64() < 0.5),
    ];
    for (wanted, hit) in table {
        for seed in 1..=5 {
            let found = rows(&incident(seed, hit));
            assert_eq!(found.first().map(String::as_str), Some(*wanted), "seed {seed}: {found:?}");
        }
    }
}

#[test]
fn what_says_the_same_folds_under_the_likeliest_cause() {
    let table = incident(7, |request, _| has(request, "service.version", "1.42.0"));
    let row = &explain(&table).rows[0];
    assert_eq!(shown(&table, row.conditions[0]), "service.version = 1.42.0");
    let synonyms: Vec<_> = row.synonyms.iter().map(|one| shown(&table, *one)).collect();
    assert_eq!(synonyms, ["vcs.commit = commit-of-1.42.0"]);
    assert!(row.explained > 0.8 && row.selected_share > 0.9 && row.compared_share < 0.1, "{row:?}");
}

#[test]
fn a_number_is_cut_near_the_planted_one() {
    for seed in 1..=5 {
        let table = incident(seed, |request, random| request.size >= 60_000.0 && random.f64() < 0.8);
        let explanation = explain(&table);
        let condition = explanation.rows[0].conditions[0];
        let Predicate::AtLeast(cut) = condition.predicate else { panic!("{}", shown(&table, condition)) };
        assert!((cut / 60_000.0 - 1.0).abs() < 0.1, "seed {seed}: {cut}");
    }
}

#[test]
fn two_conditions_together_are_one_row() {
    for seed in 1..=5 {
        let table = incident(seed, |request, random| {
            has(request, "cloud.region", "eu-1") && has(request, "flag.new_price", "on") && random.f64() < 0.8
        });
        let row = &explain(&table).rows[0];
        let names: BTreeSet<_> = row.conditions.iter().map(|one| shown(&table, *one)).collect();
        let wanted = ["cloud.region = eu-1", "flag.new_price = on"].map(str::to_owned);
        assert_eq!((row.kind, names), (RowKind::Pair, BTreeSet::from(wanted)), "seed {seed}");
    }
}

#[test]
fn two_causes_are_two_rows() {
    for seed in 1..=5 {
        let table = incident(seed, |request, random| {
            (has(request, "host.name", "host-0-1") || has(request, "tenant.id", "tenant-2")) && random.f64() < 0.7
        });
        let found: BTreeSet<_> = rows(&table).into_iter().take(2).collect();
        let wanted = ["host.name = host-0-1", "tenant.id = tenant-2"].map(str::to_owned);
        assert_eq!(found, BTreeSet::from(wanted), "seed {seed}");
    }
}

/// 6,000 requests of 120 minutes: `of` draws the attributes and the probability that a request is slow.
fn drawn(seed: u64, of: impl Fn(u32, &mut fastrand::Rng) -> (Vec<(&'static str, String)>, f64)) -> Table {
    let mut random = fastrand::Rng::with_seed(seed);
    let requests: Vec<_> = (0..6000)
        .map(|_| {
            let minute = random.u32(0..120);
            let (mut attributes, slow) = of(minute, &mut random);
            attributes.push(("noise", random.u32(0..4).to_string()));
            Request { attributes, size: random.f64(), slow: random.f64() < slow, minute }
        })
        .collect();
    table(&requests)
}

#[test]
fn a_full_rollout_is_what_the_selection_began_with() {
    let table = drawn(3, |minute, _| {
        let version = if minute >= 80 { "2" } else { "1" };
        let attributes = vec![("service.version", version.to_owned()), ("container.image.tag", format!("v{version}"))];
        (attributes, if minute >= 80 { 0.5 } else { 0.03 })
    });
    let explanation = explain(&table);
    assert_eq!(rows(&table), ["service.version = 2"]);
    assert_eq!(explanation.rows[0].kind, RowKind::Began);
    assert_eq!(explanation.rows[0].synonyms.len(), 1);
}

// A row that explains a little of the selection does not come before what all of it began with.
#[test]
fn a_full_rollout_is_the_first_row() {
    for seed in 1..=5 {
        let table = drawn(seed, |minute, random| {
            let (version, is_hit) = (if minute >= 80 { "2" } else { "1" }, random.f64() < 0.7);
            let attributes = vec![("service.version", version.to_owned()), ("cache.hit", is_hit.to_string())];
            let usual = if is_hit { 0.02 } else { 0.06 };
            (attributes, if minute >= 80 { usual + if is_hit { 0.3 } else { 0.4 } } else { usual })
        });
        let explanation = explain(&table);
        assert_eq!(rows(&table), ["service.version = 2", "cache.hit = false"], "seed {seed}");
        assert_eq!(explanation.rows[0].kind, RowKind::Began);
    }
}

// Requests of a kind that always was slow explain an excess by becoming more.
#[test]
fn more_requests_that_always_were_slow_explain_the_excess() {
    for (hits, cause) in [(0.4, "cache.hit = false"), (0.85, "tenant.id = 1")] {
        for seed in 1..=5 {
            let table = drawn(seed, |minute, random| {
                let is_hit = random.f64() < if minute >= 80 { hits } else { 0.85 };
                let tenant = random.u32(0..4);
                let attributes = vec![("cache.hit", is_hit.to_string()), ("tenant.id", tenant.to_string())];
                let usual = if is_hit { 0.01 } else { 0.5 };
                (attributes, if minute >= 80 && hits > 0.8 && tenant == 1 { 0.7 } else { usual })
            });
            let explanation = explain(&table);
            assert_eq!(explanation.mode, Mode::Excess, "{cause} {seed}");
            assert_eq!(rows(&table).first().map(String::as_str), Some(cause), "seed {seed}");
        }
    }
}

#[test]
fn constants_and_identifiers_are_left_out() {
    let table = incident(1, |_, _| false);
    let left_out: Vec<_> = explain(&table)
        .left_out
        .iter()
        .map(|(column, reason)| (table.columns[*column].name.clone(), *reason))
        .collect();
    assert_eq!(left_out, [("request.id".to_owned(), LeftOut::Identifier), ("constant".to_owned(), LeftOut::Constant)]);
}

#[test]
fn few_requests_give_no_rows() {
    let mut table = incident(1, |_, _| false);
    for set in &mut table.sets {
        *set = Set::Rest;
    }
    table.sets[..4].fill(Set::Selected);
    assert_eq!(explain(&table).no_rows, Some(NoRows::FewSelected));
}

#[test]
fn a_selection_at_random_has_no_rows() {
    let mut random = fastrand::Rng::with_seed(11);
    let mut with_rows = 0;
    let mut table = incident(2, |_, _| false);
    for _ in 0..100 {
        let selected = random.usize(50..500);
        for set in &mut table.sets {
            *set = if random.usize(0..12_000) < selected { Set::Selected } else { Set::Rest };
        }
        with_rows += usize::from(!explain(&table).rows.is_empty());
    }
    assert!(with_rows <= 3, "{with_rows} of 100");
}

#[test]
fn a_sample_gives_the_same_first_row() {
    let whole = incident(5, |request, random| has(request, "tenant.id", "tenant-1") && random.f64() < 0.7);
    let mut random = fastrand::Rng::with_seed(1);
    let rates = SampleRates { selected: 1.0, rest: 0.5, before: 0.25 };
    let keep: Vec<usize> = (0..whole.sets.len())
        .filter(|&request| {
            let rate = match whole.sets[request] {
                Set::Selected => rates.selected,
                Set::Rest => rates.rest,
                _ => rates.before,
            };
            random.f64() < rate
        })
        .collect();
    let sample = pick(&whole, &keep, rates);
    assert_eq!(rows(&sample).first(), rows(&whole).first());
}

/// The table of some requests in this order.
fn pick(table: &Table, requests: &[usize], rates: SampleRates) -> Table {
    let columns = table.columns.iter().map(|column| {
        let values = match &column.values {
            Values::Strings { codes, dictionary } => Values::Strings {
                codes: requests.iter().map(|&request| codes[request]).collect(),
                dictionary: dictionary.clone(),
            },
            Values::Numbers(numbers) => Values::Numbers(requests.iter().map(|&request| numbers[request]).collect()),
            Values::Lists { .. } => panic!("the generator makes no lists"),
        };
        Column { name: column.name.clone(), values }
    });
    Table { sets: requests.iter().map(|&request| table.sets[request]).collect(), rates, columns: columns.collect() }
}

/// Small tables of any sets and values.
fn tables() -> impl Strategy<Value = Table> {
    let sets = prop::sample::select(vec![
        Set::Selected,
        Set::Selected,
        Set::Rest,
        Set::Rest,
        Set::SelectedBefore,
        Set::RestBefore,
        Set::RestJustBefore,
    ]);
    let row = (sets, prop::collection::vec(0..6_u32, 4), prop::collection::btree_set(0..4_u32, 0..3), 0..50_u32);
    prop::collection::vec(row, 30..400).prop_map(|rows| {
        // A planted difference, so that rows appear.
        let code = |set: Set, value: u32| if set == Set::Selected && value > 2 { 1 } else { value };
        let mut columns: Vec<Column> = (0..4)
            .map(|column| {
                let values = rows.iter().map(|(set, values, ..)| {
                    let value = if column == 0 { code(*set, values[column]) } else { values[column] };
                    (value > 0).then(|| value.to_string())
                });
                Column::strings(format!("key-{column}"), values)
            })
            .collect();
        let (mut offsets, mut codes) = (vec![0], Vec::new());
        for (_, _, list, _) in &rows {
            codes.extend(list.iter().copied());
            offsets.push(u32::try_from(codes.len()).expect("few"));
        }
        let dictionary = (0..4).map(|value| value.to_string()).collect();
        columns.push(Column { name: "lists".to_owned(), values: Values::Lists { offsets, codes, dictionary } });
        columns.push(Column::numbers("number", rows.iter().map(|(.., number)| f64::from(*number)).collect()));
        Table { sets: rows.iter().map(|(set, ..)| *set).collect(), rates: SampleRates::ALL, columns }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// The order of rows changes nothing.
    #[test]
    fn the_order_of_requests_changes_nothing(table in tables(), seed: u64) {
        let mut order: Vec<usize> = (0..table.sets.len()).collect();
        fastrand::Rng::with_seed(seed).shuffle(&mut order);
        let strings = Table { columns: table.columns.iter().filter(|one| one.name != "lists").cloned().collect(), ..table.clone() };
        prop_assert_eq!(rows(&pick(&strings, &order, SampleRates::ALL)), rows(&strings));
    }

    /// A copy of an attribute changes only the synonyms.
    #[test]
    fn a_copied_attribute_is_a_synonym(table in tables()) {
        let mut copied = table.clone();
        copied.columns.push(Column { name: "zz-copy".to_owned(), values: table.columns[0].values.clone() });
        let (before, after) = (explain(&table), explain(&copied));
        // A copy counts as more tests: the last rows may miss the level of significance.
        for (row, copy) in before.rows.iter().zip(&after.rows).take(1) {
            prop_assert_eq!(&row.conditions, &copy.conditions);
            prop_assert!(copy.synonyms.len() >= row.synonyms.len());
        }
    }

    /// An identifier on every request changes nothing.
    #[test]
    fn an_identifier_changes_nothing(table in tables()) {
        let mut more = table.clone();
        let ids = (0..table.sets.len()).map(|request| Some(format!("id-{request}")));
        more.columns.push(Column::strings("trace", ids));
        prop_assert_eq!(rows(&more), rows(&table));
    }

    /// Every row has support, and rows are disjoint.
    #[test]
    fn rows_have_support_and_are_disjoint(table in tables()) {
        let explanation = explain(&table);
        let selected = table.sets.iter().filter(|set| **set == Set::Selected).count();
        let found: Vec<_> = explanation.rows.iter().filter(|row| row.kind != RowKind::Began).collect();
        prop_assert!(found.iter().all(|row| row.count >= 5 && row.explained >= 0.05 && row.score > 0.0));
        prop_assert!(found.iter().map(|row| row.count as usize).sum::<usize>() <= selected);
    }

    /// The first row is that of a naive computation over every condition.
    #[test]
    fn the_first_row_is_the_naive_one(table in tables()) {
        let explanation = explain(&table);
        let Some(row) = explanation.rows.first().filter(|row| row.kind == RowKind::Condition) else { return Ok(()) };
        let all = table.count(|_| true);
        let baseline = match explanation.mode {
            Mode::Excess => Baseline::excess(all, table.rates),
            Mode::SameMinutes => Baseline::same_minutes(all),
        };
        let baseline = baseline.expect("a baseline");
        let mut best = 0.0_f64;
        let mut conditions = vec![];
        for (column, one) in table.columns.iter().enumerate() {
            if !matches!(one.values, Values::Lists { .. }) {
                conditions.push(Condition { column, predicate: Predicate::Absent });
            }
            match &one.values {
                Values::Strings { dictionary, .. } | Values::Lists { dictionary, .. } => {
                    let codes = 0..u32::try_from(dictionary.len()).expect("few");
                    conditions.extend(codes.map(|code| Condition { column, predicate: Predicate::Is(code) }));
                }
                Values::Numbers(numbers) => conditions.extend(numbers.iter().flat_map(|&cut| {
                    [Predicate::AtLeast(cut), Predicate::LessThan(cut)].map(|predicate| Condition { column, predicate })
                })),
            }
        }
        for condition in conditions {
            let score = baseline.score(table.count(|request| table.holds(condition, request)));
            if score.support >= 5.0 && score.share >= 0.05 && score.explained >= 0.05 {
                best = best.max(score.score);
            }
        }
        // Cuts lie at the edges of buckets: a number may score a little less than its best cut.
        let is_number = row.conditions.iter().any(|one| matches!(table.columns[one.column].values, Values::Numbers(_)));
        prop_assert!(row.score <= best + 1e-9);
        prop_assert!(is_number || (row.score - best).abs() < 1e-9 || best_is_number(&table, &baseline, best), "{} {}", row.score, best);
    }

    /// Own times add up to the duration, whatever the spans.
    #[test]
    fn own_times_add_up_to_the_duration(spans in prop::collection::vec((any::<prop::sample::Index>(), 0..1000_i64, 0..1000_i64), 0..40)) {
        let mut tree = vec![Span { parent: None, start: 100, end: 900 }];
        for (parent, start, length) in spans {
            tree.push(Span { parent: Some(parent.index(tree.len())), start, end: start + length });
        }
        let own = own_times(&tree);
        prop_assert!(own.iter().all(|time| *time >= 0.0));
        prop_assert!((own.iter().sum::<f64>() - 800.0).abs() < 1e-6);
    }
}

/// Whether the best condition of the naive computation is a cut of numbers.
fn best_is_number(table: &Table, baseline: &Baseline, best: f64) -> bool {
    table.columns.iter().enumerate().any(|(column, one)| match &one.values {
        Values::Numbers(numbers) => numbers.iter().any(|&cut| {
            [Predicate::AtLeast(cut), Predicate::LessThan(cut)].into_iter().any(|predicate| {
                let condition = Condition { column, predicate };
                (baseline.score(table.count(|request| table.holds(condition, request))).score - best).abs() < 1e-9
            })
        }),
        _ => false,
    })
}

#[test]
fn parallel_children_share_their_time() {
    let span = |parent, start, end| Span { parent, start, end };
    let tree = [
        span(None, 0, 100),
        span(Some(0), 10, 50),
        span(Some(0), 30, 70),
        span(Some(1), 10, 30),
        span(Some(0), 90, 500),
        span(Some(9), 0, 100),
    ];
    assert_eq!(own_times(&tree), [30.0, 10.0, 30.0, 20.0, 10.0, 0.0]);
}

// ANSWERS 6 E and I: what a failure brings about is no beginning, and what was always so is no answer.
#[test]
fn consequences_and_what_was_always_so_are_no_answer() {
    let mut random = fastrand::Rng::with_seed(4);
    let (mut sets, mut retries, mut always) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..3000 {
        let is_on = number >= 1500;
        let is_failed = is_on && random.f64() < 0.9;
        sets.push(match (is_on, is_failed) {
            (true, true) => Set::Selected,
            (true, false) => Set::Rest,
            (false, _) if number >= 1300 => Set::RestJustBefore,
            _ => Set::RestBefore,
        });
        // Every request since is a repeat.
        retries.push(u32::from(is_on) + 1);
        // All had it, but for those that ended at once since.
        always.push(if is_on && !is_failed { 2 } else { 1 });
    }
    let strings = |name: &str, codes: Vec<u32>| Column {
        name: name.to_owned(),
        values: Values::Strings { codes, dictionary: vec!["0".to_owned(), "1".to_owned()] },
    };
    let columns = vec![strings("record.retry.count", retries), strings("record.db.pool", always)];
    let table = Table { sets, rates: SampleRates::ALL, columns };
    let found = explain(&table);
    assert!(found.rows.iter().all(|row| row.kind != RowKind::Began), "{found:?}");
    let names_pool = |row: &Row| row.conditions.iter().any(|condition| condition.column == 1);
    assert!(!found.rows.iter().any(|row| found.mode == Mode::SameMinutes && names_pool(row)), "{found:?}");
}

//! Own times of operations.

use super::*;

#[test]
fn the_added_time_is_named_by_operation() {
    let request = |set, handler: f64, query: f64| RequestTime { set, operations: vec![(0, handler), (1, query)] };
    let mut requests = Vec::new();
    for number in 0..100 {
        requests.push(request(Set::RestBefore, 20.0e6, 30.0e6));
        let set = if number < 40 { Set::Selected } else { Set::Rest };
        requests.push(request(set, 20.0e6, if number < 40 { 100.0e6 } else { 30.0e6 }));
    }
    let rows = own_time(&requests, SampleRates::ALL);
    assert_eq!(rows.len(), 1);
    assert_eq!((rows[0].operation, rows[0].baseline, rows[0].share), (1, 30.0e6, 1.0));
    assert!((rows[0].selected - 58.0e6).abs() < 1.0, "{rows:?}");
    // Without a time before, the selected requests are compared with the others of their minutes.
    requests.retain(|request| request.set != Set::RestBefore);
    let rows = own_time(&requests, SampleRates::ALL);
    assert_eq!((rows[0].operation, rows[0].delta), (1, 70.0e6));
}

// ANSWERS 6 A: means have no bound. A wait of 5 s in one of twenty calls is 250 ms a request, and the added times are
// the change of the mean.
#[test]
fn a_rare_long_wait_is_the_first_operation() {
    let mut random = fastrand::Rng::with_seed(3);
    let mut requests = Vec::new();
    for number in 0..4000 {
        let is_now = number % 4 == 0;
        let waits = if is_now && random.f64() < 0.05 { 5.0e9 } else { 0.0 };
        let set = match (is_now, waits > 0.0) {
            (true, true) => Set::Selected,
            (true, false) => Set::Rest,
            _ => Set::RestBefore,
        };
        let innocent = 40.0e6 + random.f64() * if is_now { 4.0e6 } else { 1.0e6 };
        requests.push(RequestTime { set, operations: vec![(0, 1.0e6 + waits), (1, innocent)] });
    }
    let rows = own_time(&requests, SampleRates::ALL);
    assert_eq!(rows[0].operation, 0, "{rows:?}");
    let mean = |now: bool| {
        let of: Vec<f64> = requests
            .iter()
            .filter(|one| (one.set != Set::RestBefore) == now)
            .map(|one| one.operations.iter().map(|(_, time)| time).sum())
            .collect();
        of.iter().sum::<f64>() / of.len() as f64
    };
    let waited = requests.iter().filter(|one| one.set == Set::Selected).count() as f64 * 5.0e9 / 1000.0;
    assert!((rows[0].delta / waited - 1.0).abs() < 0.01, "{rows:?}");
    let added: f64 = rows[0].delta / rows[0].share;
    assert!((added / (mean(true) - mean(false)) - 1.0).abs() < 0.01, "{rows:?}");
}

// One outlier adds to the mean, but does not stand before what every request waits for.
#[test]
fn a_single_outlier_is_not_first() {
    let mut requests = Vec::new();
    for number in 0..300 {
        let is_now = number % 2 == 0;
        let outlier = if number == 100 { 60.0e9 } else { 0.0 };
        let operations = vec![(0, 1.0e6 + outlier), (1, if is_now { 90.0e6 } else { 30.0e6 })];
        requests.push(RequestTime { set: if is_now { Set::Selected } else { Set::RestBefore }, operations });
    }
    let rows = own_time(&requests, SampleRates::ALL);
    assert_eq!(rows[0].operation, 1, "{rows:?}");
}

#[test]
fn the_mean_time_of_an_operation_counts_requests_without_it() {
    let request = |operations: &[(u32, f64)]| RequestTime { set: Set::Selected, operations: operations.to_vec() };
    let times = mean_times(&[request(&[(0, 60.0), (1, 40.0)]), request(&[(0, 100.0)])]);
    let found: Vec<(u32, f64, f64, u32)> =
        times.iter().map(|time| (time.operation, time.mean, time.share, time.requests)).collect();
    assert_eq!(found, [(0, 80.0, 0.8, 2), (1, 20.0, 0.2, 1)]);
    assert_eq!(mean_times(&[]), []);
}

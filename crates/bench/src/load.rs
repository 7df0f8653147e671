//! Load generator: sends requests over several connections, as fast as they are answered or at a rate, and measures the
//! latency of each.
//!
//! At a rate, every request has a scheduled time that is fixed before the run. Its latency counts from that time, not
//! from when a connection was free: a server that stalls for a second is charged for all requests scheduled meanwhile
//! (no "coordinated omission").
//!
//! Without a rate, a connection that receives 429 or 503 backs off before it sends again, as exporters do.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::http::{Connection, Request, Target};
use super::process::pause;

/// Pause after 429 or 503.
const BACK_OFF: Duration = Duration::from_millis(100);

/// When the next request is sent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pace {
    /// As soon as a connection has received its response.
    Closed,
    /// This many per second over all connections, evenly spaced.
    PerSecond(f64),
}

/// Parameters of a run.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The server.
    pub target: Target,
    /// Number of connections, at least 1.
    pub connections: usize,
    /// When requests are sent.
    pub pace: Pace,
    /// Length of the measured part.
    pub duration: Duration,
    /// Length of the warm-up before it, at the same pace. Its requests are not counted.
    pub warm_up: Duration,
}

/// The results of a run.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// Number of responses by status code.
    pub statuses: BTreeMap<u16, u64>,
    /// Requests without a response: the connection was refused, closed or timed out.
    pub failed: u64,
    /// At a rate: requests that were scheduled and not sent because no connection was free. Their wait so far counts as
    /// latency.
    pub unsent: u64,
    /// Message of the first error.
    pub problem: Option<String>,
    /// Bytes of the bodies of accepted requests, as sent.
    pub sent: u64,
    /// Bytes of the bodies of all responses.
    pub received: u64,
    /// Time from the end of the warm-up until all connections ended.
    pub elapsed: Duration,
    /// Latencies of all counted requests, sorted.
    pub latencies: Latencies,
}

impl Outcome {
    /// Number of responses with a 2xx status.
    pub fn accepted(&self) -> u64 {
        self.statuses.iter().filter(|(status, _)| (200..300).contains(*status)).map(|(_, count)| count).sum()
    }

    /// Number of requests sent.
    pub fn requests(&self) -> u64 {
        self.statuses.values().sum::<u64>() + self.failed
    }

    /// Whether every scheduled request was sent and accepted.
    pub fn is_clean(&self) -> bool {
        self.failed == 0 && self.unsent == 0 && self.accepted() == self.requests()
    }

    /// Accepted requests per second.
    pub fn per_second(&self) -> f64 {
        self.accepted() as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }

    fn add(&mut self, other: Outcome) {
        other.statuses.into_iter().for_each(|(status, count)| *self.statuses.entry(status).or_default() += count);
        self.failed += other.failed;
        self.unsent += other.unsent;
        self.problem = self.problem.take().or(other.problem);
        self.sent += other.sent;
        self.received += other.received;
        self.latencies.nanoseconds.extend(other.latencies.nanoseconds);
    }
}

/// Every latency of a run, not rounded or sampled.
#[derive(Debug, Clone, Default)]
pub struct Latencies {
    nanoseconds: Vec<u64>,
}

impl Latencies {
    /// Adds a latency.
    pub fn add(&mut self, latency: Duration) {
        self.nanoseconds.push(u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX));
    }

    /// Sorts the latencies, for [`Latencies::quantile`].
    pub fn sort(&mut self) {
        self.nanoseconds.sort_unstable();
    }

    /// The quantile `share` (0 to 1) in milliseconds; NaN without latencies. The list must be sorted with
    /// [`Latencies::sort`].
    pub fn quantile(&self, share: f64) -> f64 {
        let rank = (share * self.nanoseconds.len() as f64).ceil() as usize;
        let index = rank.saturating_sub(1).min(self.nanoseconds.len().saturating_sub(1));
        self.nanoseconds.get(index).map_or(f64::NAN, |nanoseconds| *nanoseconds as f64 / 1e6)
    }
}

/// Runs the plan. `prepare` is called once per connection with the connection's index; its result is called once per
/// request to fill it.
pub fn run<F>(plan: &Plan, prepare: impl Fn(usize) -> F + Sync) -> Outcome
where
    F: FnMut(&mut Request) + Send,
{
    let ended = AtomicBool::new(false);
    let next = AtomicU64::new(0);
    let start = Instant::now();
    let counted = start + plan.warm_up;
    let end = counted + plan.duration;
    let shared = Shared { plan, next: &next, ended: &ended, start, counted, end };
    let mut total = Outcome::default();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..plan.connections.max(1))
            .map(|number| {
                let (shared, prepare) = (&shared, &prepare);
                scope.spawn(move || shared.one_connection(prepare(number)))
            })
            .collect();
        for thread in threads {
            total.add(thread.join().expect("a connection's thread does not panic"));
        }
    });
    total.elapsed = Instant::now().duration_since(counted).max(plan.duration);
    if let Pace::PerSecond(rate) = plan.pace {
        // Requests that were scheduled before the end and not sent.
        let due = ((end - start).as_secs_f64() * rate) as u64;
        for number in next.load(Ordering::Relaxed)..due {
            let moment = start + Duration::from_secs_f64(number as f64 / rate);
            total.unsent += 1;
            total.latencies.add(Instant::now().duration_since(moment));
        }
    }
    total.latencies.sort();
    total
}

struct Shared<'a> {
    plan: &'a Plan,
    /// At a rate: number of the next request.
    next: &'a AtomicU64,
    ended: &'a AtomicBool,
    start: Instant,
    counted: Instant,
    end: Instant,
}

impl Shared<'_> {
    fn one_connection(&self, mut prepare: impl FnMut(&mut Request)) -> Outcome {
        let mut connection = Connection::new(self.plan.target.clone());
        let mut request = Request::default();
        let mut outcome = Outcome::default();
        loop {
            prepare(&mut request);
            let Some(from) = self.moment() else { break };
            let answer = connection.send(&request);
            let latency = from.elapsed();
            if from < self.counted {
                continue;
            }
            outcome.latencies.add(latency);
            match answer {
                Ok(status) => {
                    outcome.sent += if (200..300).contains(&status) { request.body.len() as u64 } else { 0 };
                    *outcome.statuses.entry(status).or_default() += 1;
                    outcome.received += connection.answer.len() as u64;
                    if self.plan.pace == Pace::Closed && matches!(status, 429 | 503) {
                        pause(BACK_OFF);
                    }
                    if !(200..300).contains(&status) && outcome.problem.is_none() {
                        outcome.problem = Some(format!("{status}: {}", readable(&connection.answer)));
                    }
                }
                Err(error) => {
                    outcome.failed += 1;
                    outcome.problem.get_or_insert_with(|| format!("{error:#}"));
                    // An unreachable server fails at once: avoid a busy loop.
                    pause(Duration::from_millis(10));
                }
            }
        }
        outcome
    }

    /// Waits for the scheduled time of the next request, and returns it; `None` when the run is over.
    fn moment(&self) -> Option<Instant> {
        let now = Instant::now();
        match self.plan.pace {
            Pace::Closed => (now < self.end).then_some(now),
            Pace::PerSecond(rate) => {
                // After the end, due requests are sent for at most the duration of the run.
                let given_up = now > self.end + self.plan.duration;
                if given_up || self.ended.load(Ordering::Relaxed) {
                    self.ended.store(true, Ordering::Relaxed);
                    return None;
                }
                let number = self.next.fetch_add(1, Ordering::Relaxed);
                let moment = self.start + Duration::from_secs_f64(number as f64 / rate);
                if moment >= self.end {
                    return None;
                }
                if let Some(wait) = moment.checked_duration_since(now) {
                    pause(wait);
                }
                Some(moment)
            }
        }
    }
}

/// The start of a response as printable characters; a protobuf status has its message between other bytes.
fn readable(answer: &[u8]) -> String {
    String::from_utf8_lossy(answer).chars().filter(|c| !c.is_control()).take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_of_the_sorted_list() {
        let mut latencies = Latencies::default();
        for milliseconds in (1..=100).rev() {
            latencies.add(Duration::from_millis(milliseconds));
        }
        latencies.sort();
        for (share, expected) in [(0.0, 1.0), (0.5, 50.0), (0.99, 99.0), (1.0, 100.0)] {
            assert_eq!(latencies.quantile(share), expected);
        }
        assert!(Latencies::default().quantile(0.5).is_nan());
    }

    /// Answers 200 to every request on every connection, after `wait`.
    fn server(wait: Duration) -> Target {
        use std::io::{Read, Write};
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let authority = listener.local_addr().unwrap().to_string();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                std::thread::spawn(move || {
                    let mut buffer = [0; 4096];
                    while stream.read(&mut buffer).is_ok_and(|read| read > 0) {
                        pause(wait);
                        if stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").is_err() {
                            return;
                        }
                    }
                });
            }
        });
        Target { authority, path: String::new() }
    }

    fn plan(target: Target, pace: Pace) -> Plan {
        Plan { target, connections: 1, pace, duration: Duration::from_millis(200), warm_up: Duration::ZERO }
    }

    fn requests(target: &Target) -> impl Fn(usize) -> Box<dyn FnMut(&mut Request) + Send> + Sync {
        let head = super::super::http::head("POST", target, "/", &[]);
        move |_| {
            let head = head.clone();
            Box::new(move |request: &mut Request| {
                request.head.clone_from(&head);
                request.body = b"x".to_vec();
            })
        }
    }

    #[test]
    fn closed_loop_counts_every_answer() {
        let target = server(Duration::ZERO);
        let outcome = run(&plan(target.clone(), Pace::Closed), requests(&target));
        assert!(outcome.is_clean() && outcome.accepted() > 0, "{outcome:?}");
        assert_eq!((outcome.sent, outcome.received), (outcome.accepted(), 2 * outcome.accepted()));
    }

    #[test]
    fn a_slow_server_is_charged_for_delayed_requests() {
        // 20 ms per response on one connection is slower than one request each 2 ms: the delay grows.
        let target = server(Duration::from_millis(20));
        let outcome = run(&plan(target.clone(), Pace::PerSecond(500.0)), requests(&target));
        assert_eq!(outcome.requests() + outcome.unsent, 100);
        assert!(outcome.latencies.quantile(0.9) > 20.0 * 2.0, "{outcome:?}");
    }

    #[test]
    fn refused_connections_are_failed_requests() {
        let target = Target { authority: "127.0.0.1:9".to_owned(), path: String::new() };
        let outcome = run(&plan(target.clone(), Pace::Closed), requests(&target));
        assert!(outcome.accepted() == 0 && outcome.failed > 0 && outcome.problem.is_some());
    }
}

//! Heap allocations of each stage per unit. `allocations --numbers` prints one line `PAYLOAD/STAGE<tab>COUNT` per stage.
#![allow(clippy::print_stdout, clippy::allow_attributes, reason = "a benchmark prints its table")]

mod support;

fn main() {
    let numbers = std::env::args().any(|argument| argument == "--numbers");
    if !numbers {
        println!("\n# heap allocations\n{:<12} {:<34} {:>12} {:>12}", "payload", "stage", "per unit", "bytes/unit");
    }
    for payload in support::payloads() {
        for (name, mut run) in support::stages(&payload) {
            run();
            let counted = allocation_counter::measure(&mut *run);
            let units = payload.units as f64;
            let (calls, bytes) = (counted.count_total as f64 / units, counted.bytes_total as f64 / units);
            match numbers {
                true => println!("{}/{name}\t{calls}", payload.name),
                false => println!("{:<12} {name:<34} {calls:>12.3} {bytes:>12.0}", payload.name),
            }
        }
    }
}

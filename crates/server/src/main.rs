//! `tidewatch`: the command line over [`tidewatch_server`].

fn main() {}

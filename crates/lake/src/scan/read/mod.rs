//! What a query reads: the sources that may answer it ([`sources`]), the rows of a part ([`part_reader`]), and the
//! dictionaries of its columns ([`dictionary`]).

pub(super) mod dictionary;
pub(super) mod part_reader;
pub(super) mod sources;

//! Reading of query input: the sources that may match ([`sources`]), the rows of a part ([`part_reader`]), and the
//! dictionaries of its columns ([`dictionary`]).

pub(super) mod dictionary;
pub(super) mod part_reader;
pub(super) mod sources;

//! Pages and orders of lists.

use std::fmt::Display;

use serde::de::{DeserializeOwned, IntoDeserializer};

use super::plans::Window;
use super::views::page::{OrderBy, Page, PageInfo, PageRequest, SortDirection};
use crate::error::QueryError;

/// Maximum rows per page. WIRE 3.2.
pub const PAGE_SIZE_MAX: i64 = 100;
/// Maximum rows before a page: the store sorts them all.
pub const OFFSET_MAX: i64 = 1_000_000;

/// A validated page request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paging {
    page: u64,
    size: u64,
}

impl Paging {
    /// Validates a page request; the default page when absent. Fails with [`QueryError::Unprocessable`] (422) when out
    /// of bounds.
    pub fn read(request: Option<PageRequest>) -> Result<Paging, QueryError> {
        let PageRequest { page, page_size } = request.unwrap_or_default();
        if page < 1 {
            return Err(QueryError::unprocessable("page is counted from 1"));
        }
        if !(1..=PAGE_SIZE_MAX).contains(&page_size) {
            return Err(QueryError::unprocessable(format!("pageSize is 1 to {PAGE_SIZE_MAX}")));
        }
        if (page - 1).saturating_mul(page_size) > OFFSET_MAX {
            return Err(QueryError::unprocessable(format!("no more than {OFFSET_MAX} rows can be skipped")));
        }
        Ok(Paging { page: page as u64, size: page_size as u64 })
    }

    /// The rows of the page.
    pub fn window(self) -> Window {
        Window { offset: ((self.page - 1) * self.size) as usize, limit: self.size as usize }
    }

    /// The response's description of the page; `total`: rows on all pages.
    pub fn info(self, total: u64) -> PageInfo {
        PageInfo { page: self.page, page_size: self.size, total, total_pages: total.div_ceil(self.size) }
    }

    /// The response; `data`: the rows of the page, `total`: rows on all pages.
    pub fn page<T>(self, data: Vec<T>, total: u64) -> Page<T> {
        Page { data, pagination: self.info(total) }
    }

    /// The elements of a complete list that are on the page.
    pub fn cut<T>(self, all: Vec<T>) -> Vec<T> {
        let Window { offset, limit } = self.window();
        all.into_iter().skip(offset).take(limit).collect()
    }
}

/// The order of a list; the default when the request names none. An unknown name is [`QueryError::Malformed`] (400),
/// and its message lists all orders.
pub fn order<O: DeserializeOwned + Default>(named: &OrderBy<O>) -> Result<O, QueryError> {
    let Some(name) = named.name() else { return Ok(O::default()) };
    O::deserialize(name.into_deserializer())
        .map_err(|UnknownOrder(known)| QueryError::malformed(format!("orderBy is one of {}", known.join(", "))))
}

/// The name is not among these orders.
#[derive(Debug, thiserror::Error)]
#[error("no such order")]
struct UnknownOrder(&'static [&'static str]);

impl serde::de::Error for UnknownOrder {
    fn custom<T: Display>(_: T) -> Self {
        UnknownOrder(&[])
    }

    fn unknown_variant(_: &str, known: &'static [&'static str]) -> Self {
        UnknownOrder(known)
    }
}

/// Whether a list is sorted in descending order; the default of [`SortDirection`] when absent.
pub fn is_descending(direction: Option<SortDirection>) -> bool {
    direction.unwrap_or_default() == SortDirection::Desc
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_validated_and_cut() {
        let read = |page, page_size| Paging::read(Some(PageRequest { page, page_size }));
        assert_eq!(Paging::read(None).unwrap().window(), Window { offset: 0, limit: 20 });
        assert_eq!(read(3, 50).unwrap().window(), Window { offset: 100, limit: 50 });
        assert_eq!(read(1, 100).unwrap().info(101).total_pages, 2);
        assert_eq!(read(1, 100).unwrap().info(0).total_pages, 0);
        assert_eq!(read(2, 2).unwrap().cut(vec![1, 2, 3]), [3]);
        for (page, size) in [(0, 20), (-1, 20), (1, 0), (1, 101), (i64::MAX, 100), (20_000, 100)] {
            assert!(matches!(read(page, size), Err(QueryError::Unprocessable(_))), "{page} {size}");
        }
    }

    #[test]
    fn orders_have_a_default_and_unknown_ones_are_refused() {
        #[derive(Debug, PartialEq, Default, serde::Deserialize)]
        #[serde(rename_all = "snake_case")]
        enum Order {
            #[default]
            Impact,
            LastSeen,
        }
        let read = |body: &str| order::<Order>(&serde_json::from_str(body).unwrap());
        for unnamed in ["null", "\"\""] {
            assert!(matches!(read(unnamed), Ok(Order::Impact)));
        }
        assert!(matches!(read("\"last_seen\""), Ok(Order::LastSeen)));
        let refused = read("\"name\"").expect_err("there is no such order");
        assert_eq!(refused.to_string(), "orderBy is one of impact, last_seen");
    }
}

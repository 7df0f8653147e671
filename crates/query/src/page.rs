//! Pages of lists.

use super::ask::Window;
use super::views::page::{Page, PageInfo, PageRequest, SortDirection};
use crate::error::QueryError;

/// Rows per page at most. WIRE 3.2.
pub const PAGE_SIZE_MAX: i64 = 100;
/// Rows that may be skipped: a store has to sort them all.
pub const OFFSET_MAX: i64 = 1_000_000;

/// A page asked for, within its bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paging {
    page: u64,
    size: u64,
}

impl Paging {
    /// Out of bounds: 422.
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

    pub fn window(self) -> Window {
        Window { offset: ((self.page - 1) * self.size) as usize, limit: self.size as usize }
    }

    pub fn info(self, total: u64) -> PageInfo {
        PageInfo { page: self.page, page_size: self.size, total, total_pages: total.div_ceil(self.size) }
    }

    pub fn page<T>(self, data: Vec<T>, total: u64) -> Page<T> {
        Page { data, pagination: self.info(total) }
    }

    /// The part of a whole list that is on the page.
    pub fn cut<T>(self, all: Vec<T>) -> Vec<T> {
        let Window { offset, limit } = self.window();
        all.into_iter().skip(offset).take(limit).collect()
    }
}

/// An order asked for by name.
///
/// `names` pairs the API's names with what they mean; the first is the default. An unknown name is 400.
pub fn order<T: Copy>(asked: Option<&str>, names: &[(&str, T)]) -> Result<T, QueryError> {
    let wanted = asked.unwrap_or("");
    if wanted.is_empty() {
        return Ok(names[0].1);
    }
    names.iter().find(|(name, _)| *name == wanted).map(|(_, meaning)| *meaning).ok_or_else(|| {
        let known: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
        QueryError::malformed(format!("orderBy is one of {}", known.join(", ")))
    })
}

pub fn is_descending(direction: Option<SortDirection>) -> bool {
    direction.unwrap_or_default() == SortDirection::Desc
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages() {
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
    fn orders() {
        let names = [("impact", 1), ("count", 2)];
        assert!(matches!(order(None, &names), Ok(1)));
        assert!(matches!(order(Some(""), &names), Ok(1)));
        assert!(matches!(order(Some("count"), &names), Ok(2)));
        assert!(matches!(order(Some("name"), &names), Err(QueryError::Malformed(_))));
    }
}

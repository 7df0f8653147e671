//! Public status pages in memory: each is read from the control database at most once in
//! [`limits::STATUS_PAGE_LIFE`], whatever the number of visitors. One visitor reads, the others wait for it.

use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use parking_lot::{Mutex, RwLock};
use tidewatch_accounts::ControlError;
use tidewatch_limits as limits;

use super::html::Shown;
use super::{MonitorSource, PageAddress, PageContents, PublicPage, StatusPages, badge, feed, first_day_ns, html};
use crate::incidents::Announcer;

/// A page in each of its forms.
#[derive(Debug)]
pub struct Rendered {
    /// Row id.
    pub id: i64,
    /// The model.
    pub page: PublicPage,
    /// The content type of the logo.
    pub logo_type: Option<String>,
    /// HTML.
    pub html: Document,
    /// HTML to be shown in another page.
    pub embedded: Document,
    /// Atom.
    pub feed: Bytes,
    /// SVG.
    pub badge: Bytes,
}

/// A document in two encodings: compressed once, not for each visitor.
#[derive(Debug)]
pub struct Document {
    /// As it is.
    pub plain: Bytes,
    /// Compressed with gzip.
    pub gzip: Bytes,
}

impl Document {
    fn of(html: String) -> Result<Document, ControlError> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        let written = encoder.write_all(html.as_bytes()).and_then(|()| encoder.finish());
        let gzip = written.map_err(|_| ControlError::Unreadable("a status page"))?;
        Ok(Document { plain: html.into(), gzip: gzip.into() })
    }
}

/// The addresses of all public pages.
#[derive(Debug, Default)]
struct Addresses {
    by_slug: HashMap<String, i64>,
    by_domain: HashMap<String, String>,
}

/// A page, from its first visitor on.
struct Slot {
    /// When it was read, nanoseconds since the epoch.
    read_ns: AtomicI64,
    page: tokio::sync::Mutex<Option<Arc<Rendered>>>,
}

/// Never read.
const NEVER: i64 = i64::MIN;

/// Public status pages in memory.
pub struct RenderedPages {
    source: RwLock<Arc<dyn MonitorSource>>,
    addresses: RwLock<(i64, Arc<Addresses>)>,
    reading_addresses: tokio::sync::Mutex<()>,
    slots: Mutex<HashMap<i64, Arc<Slot>>>,
    /// Number of changes on this node.
    changes: AtomicU64,
}

impl RenderedPages {
    /// No page is in memory.
    pub fn new(source: Arc<dyn MonitorSource>) -> RenderedPages {
        RenderedPages {
            source: RwLock::new(source),
            addresses: RwLock::new((NEVER, Arc::default())),
            reading_addresses: tokio::sync::Mutex::default(),
            slots: Mutex::default(),
            changes: AtomicU64::new(0),
        }
    }

    /// Where monitors are read.
    pub fn source(&self) -> Arc<dyn MonitorSource> {
        self.source.read().clone()
    }

    /// Replaces the source of monitors.
    pub fn set_source(&self, source: Arc<dyn MonitorSource>) {
        *self.source.write() = source;
        self.forget();
    }

    /// Forgets all pages after a change on this node; other nodes see it within [`limits::STATUS_PAGE_LIFE`].
    pub fn forget(&self) {
        self.changes.fetch_add(1, Ordering::SeqCst);
        self.addresses.write().0 = NEVER;
        self.slots.lock().clear();
    }

    /// The slug of the page at the root of a host.
    pub async fn slug_of_domain(
        &self,
        tables: &StatusPages,
        domain: &str,
        now_ns: i64,
    ) -> Result<Option<String>, ControlError> {
        Ok(self.addresses(tables, now_ns).await?.by_domain.get(domain).cloned())
    }

    /// The public page of a slug. `None`: there is none.
    pub async fn page(
        &self,
        tables: &StatusPages,
        announcer: &Announcer,
        slug: &str,
        now_ns: i64,
    ) -> Result<Option<Arc<Rendered>>, ControlError> {
        let Some(id) = self.addresses(tables, now_ns).await?.by_slug.get(slug).copied() else { return Ok(None) };
        let slot = self.slot(id);
        let mut page = slot.page.lock().await;
        if is_fresh(slot.read_ns.load(Ordering::Relaxed), now_ns) {
            return Ok(page.clone());
        }
        match self.read(tables, announcer, id, now_ns).await {
            Ok(read) => *page = read.map(Arc::new),
            // An outage of the database does not take the pages away; the page says of when it is.
            Err(error) if page.is_some() => tracing::warn!(%error, "a status page cannot be read: {error}"),
            Err(error) => return Err(error),
        }
        slot.read_ns.store(now_ns, Ordering::Relaxed);
        Ok(page.clone())
    }

    async fn addresses(&self, tables: &StatusPages, now_ns: i64) -> Result<Arc<Addresses>, ControlError> {
        let known = || {
            let addresses = self.addresses.read();
            is_fresh(addresses.0, now_ns).then(|| addresses.1.clone())
        };
        if let Some(known) = known() {
            return Ok(known);
        }
        let _reading = self.reading_addresses.lock().await;
        if let Some(known) = known() {
            return Ok(known);
        }
        let changes = self.changes.load(Ordering::SeqCst);
        let read = match tables.status_page_addresses().await {
            Ok(pages) => Arc::new(Addresses::of(pages)),
            Err(error) => {
                let mut addresses = self.addresses.write();
                if addresses.0 == NEVER {
                    return Err(error);
                }
                tracing::warn!(%error, "the addresses of status pages cannot be read: {error}");
                addresses.0 = now_ns;
                return Ok(addresses.1.clone());
            }
        };
        let mut addresses = self.addresses.write();
        // Read before a change: good for this request only.
        if self.changes.load(Ordering::SeqCst) == changes {
            *addresses = (now_ns, read.clone());
        }
        Ok(read)
    }

    fn slot(&self, id: i64) -> Arc<Slot> {
        let mut slots = self.slots.lock();
        if let Some(slot) = slots.get(&id) {
            return slot.clone();
        }
        if slots.len() >= limits::STATUS_PAGES_CACHED_MAX {
            let oldest = slots.iter().min_by_key(|(_, slot)| slot.read_ns.load(Ordering::Relaxed)).map(|(id, _)| *id);
            oldest.map(|id| slots.remove(&id));
        }
        let slot = Arc::new(Slot { read_ns: AtomicI64::new(NEVER), page: tokio::sync::Mutex::default() });
        slots.insert(id, slot.clone());
        slot
    }

    async fn read(
        &self,
        tables: &StatusPages,
        announcer: &Announcer,
        id: i64,
        now_ns: i64,
    ) -> Result<Option<Rendered>, ControlError> {
        let Some(stored) = tables.status_page(id).await?.filter(|page| page.settings.is_public) else {
            return Ok(None);
        };
        let source = self.source();
        let (organization, from_ns) = (stored.organization, first_day_ns(now_ns));
        let ids: Vec<i64> = stored.settings.components.iter().map(|one| one.check_id).collect();
        let monitors = source.monitors(&tables.database, organization).await?;
        let days = source.days(&tables.database, &ids, from_ns, now_ns).await?;
        let outages = tables.outages(organization, from_ns).await?;
        let incidents = tables.public_incidents(organization, id, from_ns).await?;
        let maintenance = tables.maintenance_windows(id).await?;
        let page = PublicPage::new(
            &stored,
            PageContents { monitors: &monitors, days: &days, outages: &outages, incidents, maintenance },
            announcer.has_mail,
            now_ns,
        );
        Ok(Some(Rendered {
            id,
            logo_type: stored.logo.map(|(content_type, _)| content_type),
            html: Document::of(html::page(&page, Shown { is_embedded: false }))?,
            embedded: Document::of(html::page(&page, Shown { is_embedded: true }))?,
            feed: feed::atom(&page, &announcer.base_url).into(),
            badge: badge::svg(&page).into(),
            page,
        }))
    }
}

impl Addresses {
    fn of(pages: Vec<PageAddress>) -> Addresses {
        let mut addresses = Addresses::default();
        for PageAddress { id, slug, custom_domain } in pages {
            if let Some(domain) = custom_domain {
                addresses.by_domain.insert(domain, slug.clone());
            }
            addresses.by_slug.insert(slug, id);
        }
        addresses
    }
}

/// Whether what was read at `read_ns` is served at `now_ns`. A clock that went back ends it too.
fn is_fresh(read_ns: i64, now_ns: i64) -> bool {
    let life_ns = limits::STATUS_PAGE_LIFE.as_nanos() as i64;
    read_ns != NEVER && (0..life_ns).contains(&now_ns.saturating_sub(read_ns))
}

#[cfg(test)]
mod tests {
    use tidewatch_domain::units::SECOND_NS;

    use super::*;

    #[test]
    fn pages_are_served_for_half_a_minute() {
        for (read, now, expected) in [
            (NEVER, 0, false),
            (NEVER, i64::MAX, false),
            (100 * SECOND_NS, 100 * SECOND_NS, true),
            (100 * SECOND_NS, 130 * SECOND_NS - 1, true),
            (100 * SECOND_NS, 130 * SECOND_NS, false),
            (100 * SECOND_NS, 99 * SECOND_NS, false),
        ] {
            assert_eq!(is_fresh(read, now), expected, "{read} {now}");
        }
    }
}

//! Readers of what a daemon shows.

use super::SlurmSite;
use crate::cluster::SiteRemark;

impl SlurmSite {
    /// Returns a remark where a page that every user of this machine can open shows jobs that the
    /// site hides from them.
    pub fn about_page(&self, is_for_all: bool) -> Option<SiteRemark> {
        (is_for_all && self.hides_from_users("jobs")).then(|| SiteRemark {
            forbids: false,
            found: format!(
                "PrivateData={} hides jobs of others, and every user of this host reads them on the page",
                self.get("PrivateData")
            ),
            change: "--listen unix:FILE, which the group of the socket may open, or --listen none".into(),
        })
    }
}

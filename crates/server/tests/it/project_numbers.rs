//! Numbers of projects are used once, even if the control database is lost or restored.

use serde_json::json;
use tidewatch_store::tables::Table;

use crate::engines::On;
use crate::harness::Harness;
use crate::requests::request;

on_both! {
    /// A control database that is restored from an older copy, or new, must not reuse numbers of stored rows.
    async fn a_new_project_never_sees_rows_of_an_earlier_one(database) {
        let (mut harness, mut first) = Harness::registered(&On::sqlite()).await;
        let older = harness.data().join("older.sqlite");
        assert!(harness.app().accounts.control.database().copy_to(&older).await.expect("a copy"));
        harness.project("second").await;
        let third = harness.project("third").await;
        harness.send(&third, &[request(1, "/secret", 200, 0.0, 5.0)]).await;
        assert_eq!(harness.rows(Table::Endpoints), 1);
        harness.stop().await;
        let is_new = database.url.is_some();
        if is_new {
            let setting = database.setting();
            harness.change(move |config| setting(config));
        } else {
            std::fs::rename(&older, harness.data().join("control.sqlite")).expect("the copy takes its place");
        }
        harness.start_again().await;
        if is_new {
            first = harness.register().await;
        }
        let (second, third) = (harness.project("second").await, harness.project("third").await);
        assert_eq!(harness.rows(Table::Endpoints), 1, "the rows are still here");
        for project in [&first, &second, &third] {
            let list = harness.query_json(project, "/api/endpoints/grouped", json!({ "fromDate": "2020-01-01T00:00:00Z", "toDate": "2100-01-01T00:00:00Z" })).await;
            assert_eq!(list["data"], json!([]), "somebody else's");
        }
        // New numbers follow the largest stored one.
        let numbers: Vec<u32> = [&first, &second, &third].iter().map(|project| {
            let id = project.id.parse().expect("an id");
            harness.app().accounts.control.projects.project_by_id(id).expect("it is there").number
        }).collect();
        assert_eq!(numbers, if is_new { [4, 5, 6] } else { [1, 4, 5] });
        harness.restart().await;
        let fourth = harness.project("fourth").await;
        let number = harness.app().accounts.control.projects.project_by_id(fourth.id.parse().expect("an id")).expect("it is there").number;
        assert_eq!(number, if is_new { 7 } else { 6 });
    }
}

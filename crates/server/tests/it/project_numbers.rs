//! Numbers of projects are used once, whatever becomes of the control database.

use serde_json::json;
use tidewatch_store::tables::Table;

use crate::ask::request;
use crate::engines::On;
use crate::harness::Harness;

on_both! {
    /// A control database restored from an older copy, or made anew, would give numbers again that rows here have.
    async fn a_new_project_never_sees_rows_of_an_earlier_one(database) {
        let before = match database.url {
            Some(_) => On::sqlite(),
            None => On::postgres().await,
        };
        let (mut harness, _) = Harness::registered(&before).await;
        harness.project("second").await;
        let third = harness.project("third").await;
        harness.send(&third, &[request(1, "/secret", 200, 0.0, 5.0)]).await;
        assert_eq!(harness.rows(Table::Endpoints), 1);
        let setting = database.setting();
        harness.change(move |config| setting(config));
        harness.restart().await;
        let first = harness.register().await;
        let (second, third) = (harness.project("second").await, harness.project("third").await);
        assert_eq!(harness.rows(Table::Endpoints), 1, "the rows are still here");
        for project in [&first, &second, &third] {
            let list = harness.asked(project, "/api/endpoints/grouped", json!({ "fromDate": "2020-01-01T00:00:00Z", "toDate": "2100-01-01T00:00:00Z" })).await;
            assert_eq!(list["data"], json!([]), "somebody else's");
        }
        // And numbers go on from there.
        let numbers: Vec<u32> = [&first, &second, &third].iter().map(|project| {
            let id = project.id.parse().expect("an id");
            harness.app().control.project_by_id(id).expect("it is there").number
        }).collect();
        assert_eq!(numbers, [4, 5, 6]);
        harness.restart().await;
        let fourth = harness.project("fourth").await;
        let number = harness.app().control.project_by_id(fourth.id.parse().expect("an id")).expect("it is there").number;
        assert_eq!(number, 7);
    }
}

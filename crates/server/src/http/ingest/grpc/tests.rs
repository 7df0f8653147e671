use super::*;

#[test]
fn content_types() {
    for (value, expected) in [
        ("application/grpc", true),
        ("application/grpc+proto", true),
        ("Application/GRPC;x=y", true),
        ("application/grpc-web", true),
        ("application/grpcx", false),
        ("application/x-protobuf", false),
        ("", false),
    ] {
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, value.parse().unwrap())]);
        assert_eq!(is_grpc(&headers), expected, "{value:?}");
    }
    assert!(!is_grpc(&HeaderMap::new()));
}

// OTLP specification, failures: what an exporter retries depends on the code, and on RetryInfo for RESOURCE_EXHAUSTED.
#[test]
fn status_table() {
    for (error, expected, is_retried) in [
        (ApiError::malformed("x"), 3, false),
        (ApiError::Unauthorized("x"), 16, false),
        (ApiError::Forbidden("x"), 7, false),
        (ApiError::not_found("x"), 5, false),
        (ApiError::UnsupportedMedia("x".to_owned()), 12, false),
        (ApiError::TooLarge(1), 8, false),
        (ApiError::OverQuota("x", 7), 8, true),
        (ApiError::Overloaded("x"), 14, true),
        (ApiError::Slow, 4, false),
        (ApiError::Internal, 13, false),
    ] {
        let response = failure(&error);
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["grpc-status"], expected.to_string().as_str(), "{error:?}");
        assert_eq!(response.headers().contains_key("grpc-status-details-bin"), is_retried, "{error:?}");
    }
}

#[test]
fn retry_info_is_a_status_detail() {
    let response = failure(&ApiError::OverQuota("too much", 300));
    let details = BASE64_STANDARD_NO_PAD.decode(&response.headers()["grpc-status-details-bin"]).expect("Base64");
    // RetryInfo { retry_delay = 1: Duration { seconds = 1: 300 } }, at the end of the status.
    assert!(details.ends_with(&[0x12, 5, 0x0a, 3, 8, 0xac, 2]), "{details:?}");
    assert!(details.starts_with(&[8, 8]), "{details:?}");
    assert_eq!(response.headers()["grpc-message"], "too much; try again in 300 seconds");
}

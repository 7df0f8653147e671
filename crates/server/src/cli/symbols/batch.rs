//! Groups files into requests within the server's limits.

use super::find::Found;
use tidewatch_limits as limits;

/// Bytes that a form adds, and that each part adds to its file; generous upper bounds.
const FORM_BYTES: u64 = 64 << 10;
const PART_BYTES: u64 = 1 << 10;

/// Groups the files in order; each request is within the server's limits on bytes and files.
pub fn group(found: Vec<Found>) -> Vec<Vec<Found>> {
    let bytes_max = limits::UPLOAD.body_bytes_max as u64 - FORM_BYTES;
    let mut requests: Vec<Vec<Found>> = Vec::new();
    let mut bytes = 0;
    for file in found {
        let cost = file.bytes + PART_BYTES + file.name.len() as u64;
        match requests.last_mut() {
            Some(request) if request.len() < limits::UPLOAD_FILES_MAX && bytes + cost <= bytes_max => {
                request.push(file);
                bytes += cost;
            }
            _ => {
                requests.push(vec![file]);
                bytes = cost;
            }
        }
    }
    requests
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(bytes: u64) -> Found {
        Found { path: "a".into(), name: "a".into(), bytes, hash: String::new(), keys: Vec::new() }
    }

    fn sizes(found: Vec<Found>) -> Vec<usize> {
        group(found).iter().map(Vec::len).collect()
    }

    // Spec: limits, row "Upload size".
    #[test]
    fn requests_are_within_bytes_and_files() {
        let largest = limits::UPLOAD_FILE_BYTES_MAX as u64;
        assert_eq!(sizes(vec![]), Vec::<usize>::new());
        assert_eq!(sizes(vec![file(largest), file(40 << 20), file(20 << 20)]), [2, 1]);
        assert_eq!(sizes(vec![file(largest), file(largest)]), [1, 1]);
        assert_eq!(sizes((0..2001).map(|_| file(1)).collect()), [1000, 1000, 1]);
    }
}

//! The picture of a chart: the line of a series above its area, as PNG.
//!
//! It has no labels: the message says what they would. A picture has at most a few kilobytes.

use std::io::Write;

use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};

use crate::channels::SeriesPoint;

const WIDTH: usize = 600;
const HEIGHT: usize = 160;
/// Pixels around the line.
const MARGIN: f64 = 8.0;
/// Half the width of the line, pixels.
const LINE_HALF: f64 = 1.25;
const BACKGROUND: u32 = 0xFF_FF_FF;
const GRID: u32 = 0xE3_E6_EA;
/// Opacity of the area below the line.
const AREA: f64 = 0.14;
const GRID_LINES: usize = 4;

/// Draws the series in a color, `0xRRGGBB`. `None`: fewer than two points of different times are finite.
pub fn png(series: &[SeriesPoint], color: u32) -> Option<Vec<u8>> {
    let heights = heights(series)?;
    let mut pixels = vec![BACKGROUND; WIDTH * HEIGHT];
    for line in 0..=GRID_LINES {
        let y = MARGIN + (HEIGHT as f64 - 2.0 * MARGIN) * line as f64 / GRID_LINES as f64;
        let row = (y as usize).min(HEIGHT - 1);
        pixels[row * WIDTH..(row + 1) * WIDTH].fill(GRID);
    }
    for x in 0..WIDTH {
        let here = heights[x];
        let before = (heights[x.saturating_sub(1)] + here) / 2.0;
        let after = (heights[(x + 1).min(WIDTH - 1)] + here) / 2.0;
        let top = here.min(before).min(after) - LINE_HALF;
        let bottom = here.max(before).max(after) + LINE_HALF;
        for y in 0..HEIGHT {
            let pixel = &mut pixels[y * WIDTH + x];
            let (from, to) = (y as f64, (y + 1) as f64);
            *pixel = mixed(*pixel, color, AREA * (to - here.max(from)).clamp(0.0, 1.0));
            *pixel = mixed(*pixel, color, (bottom.min(to) - top.max(from)).clamp(0.0, 1.0));
        }
    }
    encode(&pixels)
}

/// Description of the chart in words: the range of time and of values.
pub fn caption(series: &[SeriesPoint]) -> Option<String> {
    let finite = || series.iter().filter(|point| point.value.is_finite());
    let (first, last) = (finite().map(|point| point.at_ns).min()?, finite().map(|point| point.at_ns).max()?);
    let low = finite().map(|point| point.value).fold(f64::INFINITY, f64::min);
    let high = finite().map(|point| point.value).fold(f64::NEG_INFINITY, f64::max);
    let time = |at_ns: i64| {
        jiff::Timestamp::from_nanosecond(i128::from(at_ns)).unwrap_or_default().strftime("%Y-%m-%d %H:%M").to_string()
    };
    Some(format!("{} to {} UTC, lowest {}, highest {}", time(first), time(last), number(low), number(high)))
}

/// A number with at most four significant decimals.
fn number(value: f64) -> String {
    let rounded = format!("{value:.4}");
    rounded.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The vertical position of the line in each column.
fn heights(series: &[SeriesPoint]) -> Option<Vec<f64>> {
    let mut points: Vec<(i64, f64)> =
        series.iter().filter(|point| point.value.is_finite()).map(|point| (point.at_ns, point.value)).collect();
    points.sort_by_key(|(at_ns, _)| *at_ns);
    points.dedup_by_key(|(at_ns, _)| *at_ns);
    let (first, last) = (points.first()?.0, points.last()?.0);
    if first == last {
        return None;
    }
    // The axis begins at zero, as on the pages.
    let low = points.iter().map(|(_, value)| *value).fold(0.0, f64::min);
    let high = points.iter().map(|(_, value)| *value).fold(0.0, f64::max);
    let range = if high > low { high - low } else { 1.0 };
    let mut index = 0;
    let column = |x: usize| {
        let at = first as f64 + (last as f64 - first as f64) * x as f64 / (WIDTH - 1) as f64;
        while index + 2 < points.len() && (points[index + 1].0 as f64) < at {
            index += 1;
        }
        let ((from_ns, from), (to_ns, to)) = (points[index], points[index + 1]);
        let part = ((at - from_ns as f64) / (to_ns as f64 - from_ns as f64)).clamp(0.0, 1.0);
        let value = from + (to - from) * part;
        MARGIN + (HEIGHT as f64 - 2.0 * MARGIN) * (1.0 - (value - low) / range)
    };
    Some((0..WIDTH).map(column).collect())
}

/// A color above another one.
fn mixed(below: u32, above: u32, opacity: f64) -> u32 {
    let channel = |shift: u32| {
        let (low, high) = (f64::from(below >> shift & 0xFF), f64::from(above >> shift & 0xFF));
        ((low + (high - low) * opacity).round() as u32) << shift
    };
    channel(16) | channel(8) | channel(0)
}

/// PNG (ISO/IEC 15948): header, compressed rows without filters, end.
fn encode(pixels: &[u32]) -> Option<Vec<u8>> {
    let mut compressed = ZlibEncoder::new(Vec::new(), Compression::best());
    for row in pixels.chunks(WIDTH) {
        compressed.write_all(&[0]).ok()?;
        for pixel in row {
            compressed.write_all(&pixel.to_be_bytes()[1..]).ok()?;
        }
    }
    let mut header = Vec::new();
    header.extend_from_slice(&(WIDTH as u32).to_be_bytes());
    header.extend_from_slice(&(HEIGHT as u32).to_be_bytes());
    // Eight bits for each of red, green and blue; no other options.
    header.extend_from_slice(&[8, 2, 0, 0, 0]);
    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    chunk(&mut png, *b"IHDR", &header);
    chunk(&mut png, *b"IDAT", &compressed.finish().ok()?);
    chunk(&mut png, *b"IEND", &[]);
    Some(png)
}

fn chunk(png: &mut Vec<u8>, name: [u8; 4], content: &[u8]) {
    png.extend_from_slice(&(content.len() as u32).to_be_bytes());
    png.extend_from_slice(&name);
    png.extend_from_slice(content);
    let mut checksum = Crc::new();
    checksum.update(&name);
    checksum.update(content);
    png.extend_from_slice(&checksum.sum().to_be_bytes());
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::ZlibDecoder;

    use super::*;

    fn series(values: &[f64]) -> Vec<SeriesPoint> {
        let point = |(index, value): (usize, &f64)| SeriesPoint { at_ns: index as i64 * 60_000_000_000, value: *value };
        values.iter().enumerate().map(point).collect()
    }

    /// The pixels of a picture of one IDAT chunk.
    fn decoded(png: &[u8]) -> Vec<u32> {
        assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
        let mut at = 8;
        let mut pixels = Vec::new();
        let mut names = Vec::new();
        while at < png.len() {
            let length = u32::from_be_bytes(png[at..at + 4].try_into().expect("four bytes")) as usize;
            let (name, content) = (&png[at + 4..at + 8], &png[at + 8..at + 8 + length]);
            let mut checksum = Crc::new();
            checksum.update(name);
            checksum.update(content);
            assert_eq!(checksum.sum().to_be_bytes(), png[at + 8 + length..at + 12 + length]);
            if name == b"IDAT" {
                let mut rows = Vec::new();
                ZlibDecoder::new(content).read_to_end(&mut rows).expect("zlib");
                for row in rows.chunks(1 + 3 * WIDTH) {
                    assert_eq!(row[0], 0);
                    pixels.extend(row[1..].chunks(3).map(|rgb| u32::from_be_bytes([0, rgb[0], rgb[1], rgb[2]])));
                }
            }
            names.push(String::from_utf8_lossy(name).into_owned());
            at += 12 + length;
        }
        assert_eq!(names, ["IHDR", "IDAT", "IEND"]);
        pixels
    }

    /// The row of the most intense pixel of a column.
    fn line_at(pixels: &[u32], x: usize) -> usize {
        (0..HEIGHT).min_by_key(|y| pixels[y * WIDTH + x]).expect("rows")
    }

    #[test]
    fn the_line_follows_the_values() {
        let png = png(&series(&[0.0, 10.0, 5.0]), 0x00_00_00).expect("a picture");
        assert!(png.len() < 16 << 10, "{} bytes", png.len());
        let pixels = decoded(&png);
        assert_eq!(pixels.len(), WIDTH * HEIGHT);
        let (start, peak, end) = (line_at(&pixels, 0), line_at(&pixels, WIDTH / 2), line_at(&pixels, WIDTH - 1));
        assert!(start > 145 && peak < 12 && (75..85).contains(&end), "{start} {peak} {end}");
        // Below the line is the area, above it the background.
        assert_eq!(pixels[20 * WIDTH + WIDTH - 1], BACKGROUND);
        assert_ne!(pixels[140 * WIDTH + WIDTH - 1], BACKGROUND);
    }

    #[test]
    fn series_without_two_points_have_no_picture() {
        for values in [&[][..], &[1.0], &[1.0, f64::NAN], &[f64::INFINITY, f64::NAN]] {
            assert_eq!(png(&series(values), 0), None);
        }
        for values in [&[0.0, 0.0][..], &[-1.0, -2.0], &[1e308, -1e308], &[f64::NAN, 1.0, 2.0]] {
            assert!(png(&series(values), 0).is_some(), "{values:?}");
        }
        let same_time = [SeriesPoint { at_ns: 1, value: 1.0 }, SeriesPoint { at_ns: 1, value: 2.0 }];
        assert_eq!(png(&same_time, 0), None);
    }

    #[test]
    fn a_caption_says_what_labels_would() {
        let caption = caption(&series(&[0.5, 12.25, 3.0])).expect("points");
        assert_eq!(caption, "1970-01-01 00:00 to 1970-01-01 00:02 UTC, lowest 0.5, highest 12.25");
    }
}

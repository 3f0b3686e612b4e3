//! Fewer points that look the same.

/// The points of a line that a picture `columns` wide can show: of each column the first, the lowest, the highest and the
/// last. Peaks stay.
pub(super) fn thin(points: &[(f64, f64)], low: f64, high: f64, columns: usize) -> Vec<(f64, f64)> {
    if points.len() <= 4 * columns {
        return straightened(points.iter().copied());
    }
    let width = (high - low) / columns as f64;
    let column = |x: f64| ((x - low) / width).floor();
    let mut kept = Vec::new();
    for group in points.chunk_by(|one, other| column(one.0) == column(other.0)) {
        let by_height = |one: &usize, other: &usize| group[*one].1.total_cmp(&group[*other].1);
        let lowest = (0..group.len()).min_by(by_height).unwrap_or(0);
        let highest = (0..group.len()).max_by(by_height).unwrap_or(0);
        let mut places = [0, lowest.min(highest), lowest.max(highest), group.len() - 1];
        places.sort_unstable();
        let mut last = None;
        for place in places {
            if last.replace(place) != Some(place) {
                kept.push(group[place]);
            }
        }
    }
    straightened(kept.into_iter())
}

/// Without the points in the middle of a level stretch.
fn straightened(points: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    let mut kept: Vec<(f64, f64)> = Vec::new();
    for point in points {
        if let [.., before, last] = kept[..]
            && before.1 == last.1
            && last.1 == point.1
        {
            kept.pop();
        }
        kept.push(point);
    }
    kept
}

/// The corners of stairs through these points.
pub(super) fn corners(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut corners: Vec<(f64, f64)> = Vec::with_capacity(2 * points.len());
    for &(x, y) in points {
        if let Some(&(_, before)) = corners.last()
            && before != y
        {
            corners.push((x, before));
        }
        corners.push((x, y));
    }
    straightened(corners.into_iter())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peaks_and_ends_survive() {
        let mut points: Vec<(f64, f64)> = (0..100_000).map(|x| (f64::from(x), 1.0 + f64::from(x % 3))).collect();
        points[54_321].1 = 99.0;
        points[54_987].1 = -7.0;
        let kept = thin(&points, 0.0, 100_000.0, 300);
        assert!(kept.len() <= 1_200, "{}", kept.len());
        assert!(kept.contains(&points[54_321]) && kept.contains(&points[54_987]));
        assert_eq!((kept[0], kept[kept.len() - 1]), (points[0], points[99_999]));
        assert!(kept.is_sorted_by(|one, other| one.0 <= other.0));
    }

    #[test]
    fn stairs_have_two_points_a_step() {
        let points: Vec<(f64, f64)> = (0..1_000).map(|x| (f64::from(x), f64::from(x / 500))).collect();
        assert_eq!(corners(&points), [(0.0, 0.0), (500.0, 0.0), (500.0, 1.0), (999.0, 1.0)]);
        assert!(corners(&[]).is_empty());
    }
}

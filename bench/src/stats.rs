//! The median and the spread of measured values.

/// Returns the median, which is the mean of the middle two for an even number of values, or `None`
/// for no values.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        length if length % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

/// Returns the percentiles 10 and 90, or `None` for no values.
pub fn spread(values: &[f64]) -> Option<[f64; 2]> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let tenth = sorted.len() / 10;
    Some([*sorted.get(tenth)?, *sorted.iter().rev().nth(tenth)?])
}

/// Whether values with the given spread vary by more than half.
pub fn is_unsteady([low, high]: [f64; 2]) -> bool {
    high > 1.5 * low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_of_none_one_odd_and_even() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[7.0]), Some(7.0));
        assert_eq!(median(&[9.0, 1.0, 5.0]), Some(5.0));
        assert_eq!(median(&[9.0, 1.0, 5.0, 6.0]), Some(5.5));
    }

    #[test]
    fn median_ignores_an_outlier() {
        assert_eq!(median(&[1.0, 1.0, 1e12]), Some(1.0));
    }

    #[test]
    fn the_spread_leaves_out_a_tenth_at_each_end() {
        assert_eq!(spread(&[]), None);
        assert_eq!(spread(&[7.0]), Some([7.0, 7.0]));
        let mut values: Vec<f64> = (1..=20).rev().map(f64::from).collect();
        assert_eq!(spread(&values), Some([3.0, 18.0]));
        values.push(1e12);
        assert_eq!(spread(&values), Some([3.0, 19.0]));
        assert!(is_unsteady([2.0, 3.1]) && !is_unsteady([2.0, 3.0]));
    }
}

//! Correlations of ranks.

/// Spearman's rank correlation, equal values having the mean of their ranks; nothing if the values
/// of one side are all equal. `x` and `y` are equally long.
pub fn spearman(x: &[f64], y: &[f64]) -> Option<f64> {
    pearson(&ranks(x), &ranks(y))
}

/// The rank of each value, from 1; equal ones have the mean of theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut first = 0;
    for equal in order.chunk_by(|a, b| values[*a] == values[*b]) {
        let mean = first as f64 + (equal.len() + 1) as f64 / 2.0;
        equal.iter().for_each(|i| ranks[*i] = mean);
        first += equal.len();
    }
    ranks
}

fn pearson(x: &[f64], y: &[f64]) -> Option<f64> {
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let (mx, my) = (mean(x), mean(y));
    let product = |v: &[f64], mv: f64, w: &[f64], mw: f64| -> f64 {
        v.iter().zip(w).map(|(a, b)| (a - mv) * (b - mw)).sum()
    };
    let (xx, yy) = (product(x, mx, x, mx), product(y, my, y, my));
    (xx > 0.0 && yy > 0.0).then(|| product(x, mx, y, my) / (xx.sqrt() * yy.sqrt()))
}

/// Kendall's tau-b; nothing if the values of one side are all equal. `x` and `y` are equally long.
///
/// Discordant pairs are the exchanges that sorting by merging makes in the order of `y`, once the
/// pairs are sorted by `x` and then `y` (W. R. Knight, *A computer method for calculating Kendall's
/// tau with ungrouped data*, JASA 61, 1966): n log n steps.
pub fn kendall(x: &[f64], y: &[f64]) -> Option<f64> {
    let mut pairs: Vec<(f64, f64)> = x.iter().copied().zip(y.iter().copied()).collect();
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let all = tied(pairs.len());
    let tied_x: u128 = pairs.chunk_by(|a, b| a.0 == b.0).map(|g| tied(g.len())).sum();
    let tied_both: u128 = pairs.chunk_by(|a, b| a == b).map(|g| tied(g.len())).sum();
    let mut order: Vec<f64> = pairs.iter().map(|(_, y)| *y).collect();
    let discordant = exchanges(&mut order);
    pairs.sort_by(|a, b| a.1.total_cmp(&b.1));
    let tied_y: u128 = pairs.chunk_by(|a, b| a.1 == b.1).map(|g| tied(g.len())).sum();
    let concordant = all + tied_both - tied_x - tied_y - discordant;
    let scale = ((all - tied_x) as f64).sqrt() * ((all - tied_y) as f64).sqrt();
    (scale > 0.0).then(|| (concordant as f64 - discordant as f64) / scale)
}

/// Pairs among n.
fn tied(n: usize) -> u128 {
    let n = n as u128;
    n * n.saturating_sub(1) / 2
}

/// Sorts, and counts the pairs that were the wrong way round.
fn exchanges(values: &mut [f64]) -> u128 {
    let middle = values.len() / 2;
    if middle == 0 {
        return 0;
    }
    let (left, right) = values.split_at_mut(middle);
    let mut count = exchanges(left) + exchanges(right);
    let (mut merged, mut i) = (Vec::with_capacity(left.len() + right.len()), 0);
    for value in right.iter() {
        let smaller = left[i..].iter().take_while(|other| *other <= value).count();
        merged.extend_from_slice(&left[i..i + smaller]);
        i += smaller;
        count += (left.len() - i) as u128;
        merged.push(*value);
    }
    merged.extend_from_slice(&left[i..]);
    values.copy_from_slice(&merged);
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: Option<f64>, b: f64) -> bool {
        a.is_some_and(|a| (a - b).abs() < 1e-12)
    }

    #[test]
    fn by_hand() {
        let x = [1.0, 2.0, 3.0, 4.0, 5.0];
        // Differences of ranks 1, 1, 0, 1, 1: 1 - 6 * 4 / (5 * 24); 8 pairs alike, 2 not.
        let y = [2.0, 1.0, 3.0, 5.0, 4.0];
        assert!(close(spearman(&x, &y), 0.8));
        assert!(close(kendall(&x, &y), 0.6));
        assert!(close(kendall(&x, &[5.0, 4.0, 3.0, 2.0, 1.0]), -1.0));
        assert_eq!(spearman(&x, &[1.0; 5]), None);
        assert_eq!(kendall(&[1.0; 5], &x), None);
        assert_eq!(kendall(&[1.0], &[2.0]), None);
    }

    #[test]
    fn ties_by_hand() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0]), [3.5, 1.0, 3.5, 2.0]);
        // Six pairs: alike (1,3) (1,4) (2,4); other way (2,3)...
        let (x, y) = ([1.0, 1.0, 2.0, 3.0], [1.0, 3.0, 2.0, 3.0]);
        // Pairs: 12 tied in x; 13 alike; 14 alike; 23 not; 24 tied in y; 34 alike: (3 - 1) / 5.
        assert!(close(kendall(&x, &y), 2.0 / 5.0));
    }

    /// The definition, pair by pair.
    fn by_definition(x: &[f64], y: &[f64]) -> Option<f64> {
        let (mut sum, mut of_x, mut of_y) = (0.0, 0.0f64, 0.0f64);
        for i in 0..x.len() {
            for j in 0..i {
                let sign = |a: f64, b: f64| if a == b { 0.0 } else { (a - b).signum() };
                let (sx, sy) = (sign(x[i], x[j]), sign(y[i], y[j]));
                sum += sx * sy;
                of_x += sx * sx;
                of_y += sy * sy;
            }
        }
        (of_x > 0.0 && of_y > 0.0).then(|| sum / (of_x.sqrt() * of_y.sqrt()))
    }

    #[test]
    fn tau_is_as_defined() {
        arbtest::arbtest(|u| {
            let pairs: Vec<(u8, u8)> = u.arbitrary()?;
            let x: Vec<f64> = pairs.iter().map(|(x, _)| f64::from(x % 8)).collect();
            let y: Vec<f64> = pairs.iter().map(|(_, y)| f64::from(y % 32)).collect();
            match (kendall(&x, &y), by_definition(&x, &y)) {
                (Some(a), Some(b)) => assert!((a - b).abs() < 1e-9, "{a} and {b}"),
                (a, b) => assert_eq!(a, b),
            }
            Ok(())
        });
    }
}

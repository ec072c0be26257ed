use std::time::Duration;

/// How long each operation took.
#[derive(Clone, Debug, Default)]
pub(crate) struct Samples(Vec<Duration>);

impl Samples {
    pub(crate) fn push(&mut self, sample: Duration) {
        self.0.push(sample);
    }

    /// What each operation took that was done in two parts.
    pub(crate) fn sums(one: &Self, other: &Self) -> Self {
        Self(
            one.0
                .iter()
                .zip(&other.0)
                .map(|(one, other)| *one + *other)
                .collect(),
        )
    }

    /// The sample that this part of all are not above, in microseconds; zero when there are none.
    pub(crate) fn quantile_us(&self, part: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let index = (part * sorted.len() as f64) as usize;
        sorted
            .get(index.min(sorted.len().saturating_sub(1)))
            .map_or(0.0, |sample| micros(*sample))
    }

    pub(crate) fn median_us(&self) -> f64 {
        self.quantile_us(0.5)
    }

    pub(crate) fn sum(&self) -> Duration {
        self.0.iter().sum()
    }

    pub(crate) fn mean_us(&self) -> f64 {
        let count = u32::try_from(self.0.len()).unwrap_or(u32::MAX).max(1);
        micros(self.sum() / count)
    }
}

pub(crate) fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_samples() {
        let mut samples = Samples::default();
        assert_eq!(samples.median_us(), 0.0);
        for micros in (1..=100).rev() {
            samples.push(Duration::from_micros(micros));
        }
        assert_eq!(samples.median_us(), 51.0);
        assert_eq!(samples.quantile_us(0.99), 100.0);
        assert_eq!(samples.quantile_us(0.0), 1.0);
        assert_eq!(samples.mean_us(), 50.5);
    }
}

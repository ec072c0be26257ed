//! Contract suites.

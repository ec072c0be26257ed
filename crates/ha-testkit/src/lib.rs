//! ha-testkit

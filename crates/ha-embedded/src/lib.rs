//! ha-embedded

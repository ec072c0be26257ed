//! ha-storage
